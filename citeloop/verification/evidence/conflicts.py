"""Conflicts: sources in the context of an answer that give another value than the source it cites.

Precision goes before recall: the two sentences have to say the same but for the value, in documents that are not of
different years. Sentences are compared by their words; nothing is embedded.
"""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from citeloop.state.graph_state import Passage
from citeloop.state.models import Citation
from citeloop.text.sentences import Span
from citeloop.text.words import STOPWORDS, stem, words
from citeloop.verification.evidence.traits import TextTraits, read_sentences, read_traits
from citeloop.verification.evidence.values import Value, differ, read_values

_FEWEST_SHARED = 3
"""Stems that two sentences share, so that they speak of the same thing without a look at their headings."""
_MOST_EXTRA = 1 / 3
"""Share of its stems that the longer sentence may have over the shorter one."""
_MOST_CHARACTERS = 400
"""Longer sentences say too many things to be compared."""
_MOST_VALUES = 8
"""So do those with more values, rows of tables mostly; every value of one is compared with every value of the other."""

_CUE_CHARACTERS = 4

_EDITION = re.compile(r"\b(?:19|20)\d\d\b|\b(?:v|version|edition|release)[ .]?\d+(?:\.\d+)*", re.IGNORECASE)

_PRONOUNS = frozenset(
    "it they he she this these those that its their his her there both one some others another such".split()
)
_CONDITIONS = frozenset(
    "if when unless except only where until before after without during other another instead except minimum maximum"
    " average each per every first last former new current previous initial original".split()
)
_LIGHT = frozenset(map(stem, "last take run amount total come set have need require become remain cover".split()))
"""Relation words that one sentence may have in place of another's."""
_DATED = frozenset(
    map(
        stem,
        "founded established born died built opened completed introduced signed published adopted released began start"
        " ended expires created launched incorporated ratified enacted".split(),
    )
)
"""What happens once: of anything else a sentence may tell two years without contradicting the other."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A value that the answer has from one source, and another source's value for the same."""

    citation: Citation
    value: Value
    """Of ``citation.source_text``."""
    passage: Passage
    """The other source."""
    span: Span
    """Its sentence, in ``passage["text"]``."""
    other: Value
    """Of that sentence."""


def find_disagreements(
    citations: Sequence[Citation], passages: Sequence[Passage], threshold: float
) -> Iterator[Disagreement]:
    """For each citation that supports its claim with a value, what other documents among ``passages`` say instead."""
    by_id = {passage["chunk_id"]: passage for passage in passages}
    for citation in citations:
        cited = by_id.get(citation.source_chunk_id)
        if cited and citation.confidence >= threshold and (values := _cited_values(citation)):
            cues = _cues(citation.source_text)
            for passage in passages:
                if _is_comparable(passage, cited) and _may_speak_of(cues, passage["text"]):
                    yield from _in_passage(citation, cited, values, passage, cues)


def _cited_values(citation: Citation) -> list[Value]:
    """The values that the claim has from its source."""
    if len(citation.source_text) > _MOST_CHARACTERS:
        return []
    claimed = {(value.kind, value.amount) for value in read_values(citation.claim_text)}
    return [value for value in _few_values(citation.source_text) if (value.kind, value.amount) in claimed]


def _few_values(sentence: str) -> Sequence[Value]:
    """The values of ``sentence``; none where there are too many."""
    values = read_values(sentence)
    return values if len(values) <= _MOST_VALUES else ()


def _in_passage(
    citation: Citation, cited: Passage, values: Sequence[Value], passage: Passage, cues: Set[str]
) -> Iterator[Disagreement]:
    for span in read_sentences(passage["text"]):
        sentence = passage["text"][span.start : span.end]
        if len(sentence) > _MOST_CHARACTERS or not _may_speak_of(cues, sentence):
            continue
        for other in _few_values(sentence):
            for value in values:
                if differ(value, other) and _says_the_same(
                    citation.source_text, value, cited, sentence, other, passage
                ):
                    yield Disagreement(citation, value, passage, span, other)


def _is_comparable(passage: Passage, cited: Passage) -> bool:
    """Whether they are of two documents, which are not of different years or versions: those differ by right."""
    one, two = _editions(passage), _editions(cited)
    return passage["document_id"] != cited["document_id"] and (one == two or not (one and two))


def _cues(sentence: str) -> Set[str]:
    """The beginnings of its telling words."""
    return {word[:_CUE_CHARACTERS] for word in words(sentence) if word not in STOPWORDS and not word[0].isdigit()}


def _may_speak_of(cues: Set[str], text: str) -> bool:
    """Whether ``text`` holds two cues at the least: a quick look that spares reading most sentences."""
    lowered = text.lower()
    return sum(cue in lowered for cue in cues) >= 2


def _says_the_same(one: str, value: Value, cited: Passage, two: str, other: Value, passage: Passage) -> bool:
    """Whether two sentences say the same but for one value of each."""
    first, second = _rest(one, value), _rest(two, other)
    a, b = read_traits(first), read_traits(second)
    if _others(one, value) != _others(two, other) or a.denies(b) or a.opposed_to(b) or _qualified(a) != _qualified(b):
        return False
    if _PRONOUNS & {*words(first)[:1], *words(second)[:1]}:
        return False
    if value.kind == "year" and not (a.vocabulary & b.vocabulary & _DATED):
        return False
    return _same_subject(a, b, cited, passage)


def _same_subject(a: TextTraits, b: TextTraits, cited: Passage, passage: Passage) -> bool:
    stems_a, stems_b = _stems(a), _stems(b)
    shared, only_a, only_b = stems_a & stems_b, stems_a - stems_b, stems_b - stems_a
    if (only_a and only_b) or (only_a | only_b) & (a.names | b.names) - {a.first, b.first}:
        return False
    if len(only_a | only_b) > _MOST_EXTRA * max(len(stems_a), len(stems_b)) or len(shared) < 2:
        return False
    return len(shared) >= _FEWEST_SHARED or bool(_headings(cited) & _headings(passage))


def _stems(traits: TextTraits) -> Set[str]:
    return frozenset(traits.stems) - _LIGHT


def _rest(sentence: str, value: Value) -> str:
    return f"{sentence[: value.start]}\u2026{sentence[value.end :]}"


def _others(sentence: str, value: Value) -> Set[str]:
    """All other numbers of a sentence, those that are no values too."""
    return read_traits(_rest(sentence, value)).numbers


def _qualified(traits: TextTraits) -> Set[str]:
    return traits.vocabulary & _CONDITION_STEMS


_CONDITION_STEMS = frozenset(map(stem, _CONDITIONS))


def _headings(passage: Passage) -> Set[str]:
    """Stems of the innermost heading, or of the title where there is none."""
    return frozenset(read_traits((passage["heading_path"] or [passage["title"]])[-1]).stems)


def _editions(passage: Passage) -> Set[str]:
    """Years and versions that title and headings name."""
    return {found.lower() for found in _EDITION.findall("\n".join((passage["title"], *passage["heading_path"])))}
