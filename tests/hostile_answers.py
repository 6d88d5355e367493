"""Answers as models write them at their worst: seeded, made of everything that parser and cutter have to survive."""

import random
from collections.abc import Callable, Iterator, Sequence

from citeloop.verification.answer_text.citation_stream import CitationStream
from citeloop.verification.answer_text.citations import ParsedAnswer, parse_citations
from citeloop.verification.answer_text.claim_stream import ClaimStream
from citeloop.verification.answer_text.claims import Claim, split_claims

KNOWN = {str(number): number for number in range(1, 10)} | {"D7": 17, "pricing.md": 18}
"""Labels of the sources, with their numbers."""

SENTENCES = (
    "Leave is 25 days",
    "Parental leave lasts 16 weeks at full pay, i.e. 80 working days",
    "Dr. Smith et al. measured 3.5 mg on Jan. 5 at 10 a.m. in the U.S.",
    "See Fig. 3.2, No. 7 and v1.2.3 of config.yaml",
    "“It ends. So it was said!” she wrote",
    'He said "no" (and "yes?")',
    "The fee is $1,000.50, not -3 °C",
    "休暇は25日です",
    "年假为25天，可以结转",
    "휴가는 25일입니다",
    "مدة الإجازة 25 يوماً",
    "छुट्टी 25 दिन की होती है",
    "วันลาพักร้อนมี 25 วัน",
    "Der Vertrag endet am 3. März im 2. Quartal",
    "Отпуск — 25 дней",
    "It costs 👩\u200d👩\u200d👧 5\ufe0f\u20e3 🇩🇪 a day",
    "cafe\u0301 a\u0300\u0316\u0317 Zalg\u0336o",
    "\u202eright to left\u202c and back",
    "x[0] = totals[1] + row.cells[2]",
    "In summary, here is the answer",
    "No evidence found",
    "Let me know",
    "However",
)
ENDS = (
    ". ",
    ".",
    "! ",
    "? ",
    "。",
    "！",
    "؟ ",
    "। ",
    "… ",
    "...",
    ": ",
    ":\n",
    "; ",
    ", ",
    ".\n",
    ".\n\n",
    "\n",
    "\r\n",
    "",
)
MARKERS = (
    *(
        "[1]",
        "[2]",
        " [3]",
        "[1][2]",
        "[1] [2]",
        "[1], [2]",
        "[1, 2]",
        "[1,2, 3]",
        "[1-3]",
        "[1–3]",
        "[1]-[3]",
        "[1; 2]",
    ),
    *(
        "[[4]]",
        "[[4], [5]]",
        "【1】",
        "［1］",
        "〔2〕",
        "［２］",
        "[١]",
        r"\[1\]",
        "[D7]",
        "[source 2]",
        "[1, p. 3]",
        "[1: Leave]",
    ),
    *(
        "[0]",
        "[-1]",
        "[99]",
        "[1-999999999]",
        "[9-1]",
        "[1-99]",
        "[999999999999999999999]",
        "[1.5]",
        "[D99]",
        "[D08-D10]",
    ),
    *(
        "[pricing.md]",
        "[other.md]",
        "【4†source】",
        "[^1]",
        "[#1]",
        "[1 and 2]",
        "[ 1 ]",
        "[\t2\n]",
        "[\u200b3]",
        "[1\u0301]",
    ),
    *(
        "[1",
        "1]",
        "[",
        "]",
        "[]",
        "[[",
        "]]",
        "[[1]",
        "[1]]",
        "[1][",
        "[1, ",
        "[1-",
        "]-[",
        "[a [1] b]",
        "[1[1[1",
        "[]1[]",
    ),
)
MARKUP = (
    *("**", "*", "__", "_", "~~", "`", "``", "```", "~~~", "***", "<b>", "</b>", "<br>", "<!--", "-->", "&amp;", "\\"),
    *(
        "# ",
        "\n## Leave\n",
        "\n### \n",
        "Leave\n---\n",
        "Leave\n===\n",
        "\n---\n",
        "\n***\n",
        "**Leave**\n",
        "> ",
        "\n> > ",
    ),
    *("\n- ", "\n* ", "\n1. ", "\n  - ", "\n10) ", "\n• ", "\n- [ ] ", "\n(a) ", "\n- \n", "- ", "1. "),
    *("\n| a | b |\n|---|---|\n", "| Leave | 25 [1] |\n", "| x", "|", "||", "\n|:-:|\n", "| `a|b` | \\| |\n"),
    *("\n```py\nx[1] = 2\n```\n", "\n```\nopen", "\n~~~\n[1]\n~~~\n", "`x[1]`", "``a`[1]``", "```[1]```"),
    *("[a](b)", "[1](https://a.b/c_(d))", "![1](i.png)", "[a [1]](b)", "\n[1]: https://a.b\n", "[1]: it", "[x](", "]("),
    *("\n\nSources:\n[1] Leave\n[2] Travel\n", "\n**References**\n- [1] A\n", "Sources:", "\n# Sources\n"),
    *(
        "“",
        "”",
        '"',
        "«",
        "»",
        "「",
        "」",
        "『",
        "'",
        "’",
        "(",
        ")",
        "（",
        "）",
        "{",
        "}",
        "<",
        ">",
        "<think>",
        "</think>",
    ),
)
SIGNS = (
    *(
        "\x00",
        "\x07",
        "\x1b[31m",
        "\x0b",
        "\x0c",
        "\x1c",
        "\x85",
        "\u2028",
        "\u2029",
        "\ufeff",
        "\u00ad",
        "\u200d",
        "\u200f",
    ),
    *(
        "\u202e",
        "\u2066",
        "\ud800",
        "\udfff",
        "\ud83d",
        "\ude00",
        "\uffff",
        "\U0010ffff",
        "\u0301",
        "\u20dd",
        "\xa0",
        "\u3000",
    ),
    *("\t", "   ", "\n \n", "\r", "\n\n\n", "½", "²", "①", "Ⅳ", "ﬁ", "İ", "ẞ", "\U0001d7d9", "٣", "३", "๓"),
)
BOMBS = [
    ("The fee is 3\n", " ", "[1]."),
    ("x [1", " ", "x]."),
    ("It is so [1]", " ", "x"),
    ("[source", " ", "x]"),
    ("[", "#", "]"),
    ("sources", "*", "x"),
    ("Sources:\n1.", " ", "x"),
    ("", "~", ""),
    ("[a](b", " ", "x"),
    ("It is so.\n", " ", "x"),
    ("It is so [1]. ", "\t", " end."),
    ("", "[1]", ""),
    ("", "。」あ", ""),
    ("", "3. März ", ""),
    ("", "\n", "x"),
]
"""Begin, unit to repeat, end: answers that make a pattern with two readings of one run quadratic."""
_KINDS: tuple[tuple[Sequence[str], float], ...] = ((SENTENCES, 5), (ENDS, 4), (MARKERS, 4), (MARKUP, 3), (SIGNS, 1))


def hostile_answers(count: int, seed: int = 0) -> Iterator[str]:
    """``count`` answers; the same ones for the same ``seed``."""
    rng = random.Random(seed)
    for _ in range(count):
        yield rng.choices(_WAYS, (6, 2, 1, 1, 1))[0](rng)


def in_pieces(answer: str, rng: random.Random) -> list[str]:
    """``answer`` cut at random places."""
    borders = sorted(rng.randrange(len(answer) + 1) for _ in range(rng.randrange(1, 12)))
    return [answer[start:end] for start, end in zip([0, *borders], [*borders, len(answer)], strict=True)]


def _mixed(rng: random.Random) -> str:
    """Fragments of all kinds, prose and citations before all."""
    kinds, weights = zip(*_KINDS, strict=True)
    return "".join(rng.choice(kind) for kind in rng.choices(kinds, weights, k=rng.randrange(60)))


def _well_written(rng: random.Random) -> str:
    """Sentences with their citations, in paragraphs, lists and tables."""
    lines = []
    for _ in range(rng.randrange(1, 8)):
        said = "".join(
            rng.choice(SENTENCES) + rng.choice(("", " ")) + rng.choice(MARKERS[:24]) + rng.choice(ENDS[:8])
            for _ in range(rng.randrange(1, 4))
        )
        lines.append(rng.choice(("{}", "{}", "- {}", "1. {}", "| Leave | {} |", "# {}", "> {}", "**{}**")).format(said))
    return rng.choice(("\n", "\n\n")).join(lines)


def _repeated(rng: random.Random) -> str:
    """One or two fragments over and over."""
    kind = rng.choice(_KINDS)[0]
    unit = "".join(rng.choices(kind, k=rng.randrange(1, 3)))
    return rng.choice(SENTENCES) + unit * rng.randrange(2, 200) + rng.choice(MARKERS)


def _any_characters(rng: random.Random) -> str:
    """Every code point that a ``str`` may hold, ASCII before all."""
    tops = rng.choices((0x7F, 0x7F, 0x7F, 0x2FF, 0x33FF, 0xFFFF, 0x10FFFF), k=rng.randrange(120))
    return "".join(chr(rng.randrange(top + 1)) for top in tops)


def _torn(rng: random.Random) -> str:
    """A well written answer with characters lost, doubled and swapped."""
    characters = list(_well_written(rng))
    for _ in range(rng.randrange(1, 10)):
        at = rng.randrange(len(characters) or 1)
        characters[at : at + rng.randrange(3)] = rng.choice((*SIGNS, *MARKUP, "", "[", "]", "\n"))
    return "".join(characters)


_WAYS: tuple[Callable[[random.Random], str], ...] = (_mixed, _well_written, _repeated, _any_characters, _torn)


def check_answer(answer: str, rng: random.Random) -> None:
    """Assert all that has to hold of any answer, cut anywhere."""
    parsed = parse_citations(answer, KNOWN)
    _check_markers(parsed)
    _check_claims(parsed, split_claims(parsed))
    stream = CitationStream(KNOWN)
    text = "".join([*(stream.feed(piece) for piece in in_pieces(answer, rng)), stream.close()])
    assert (text, stream.answer) == (parsed.text, parsed), repr(answer)
    claims = ClaimStream(KNOWN)
    told = [*(claim for piece in in_pieces(answer, rng) for claim in claims.feed(piece)), *claims.close()]
    _check_claims(parsed, told)


def _check_markers(parsed: ParsedAnswer) -> None:
    at = 0
    for marker in parsed.markers:
        assert at <= marker.start, (parsed, marker)
        assert parsed.text[marker.start : marker.end] == f"[{marker.label}]", (parsed, marker)
        assert KNOWN[marker.label] == marker.number
        at = marker.end
    assert not {*parsed.unknown} & KNOWN.keys(), "what is flagged leads nowhere"
    again = parse_citations(parsed.text, KNOWN)
    assert not again.unknown, (parsed, "nothing that leads nowhere is left")


def _check_claims(parsed: ParsedAnswer, claims: Sequence[Claim]) -> None:
    at = 0
    said = _without_markers(parsed)
    for claim in claims:
        assert at <= claim.start < claim.end <= len(parsed.text), (parsed, claim)
        assert _letters(said[claim.start : claim.end]) == _letters(claim.text), (parsed, claim)
        at, part_at = claim.end, claim.start
        for part in claim.parts:
            assert part_at <= part.start < part.end <= claim.end, (parsed, claim, part)
            assert _letters(said[part.start : part.end]) == _letters(part.text), (parsed, claim, part)
            part_at = part.end


def _without_markers(parsed: ParsedAnswer) -> str:
    """The text with blanks in place of its markers."""
    said = list(parsed.text)
    for marker in parsed.markers:
        said[marker.start : marker.end] = " " * (marker.end - marker.start)
    return "".join(said)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))
