"""An answer as one page that needs nothing else: no script, no network, no other file.

What documents, models and askers wrote is data: the template escapes all of it, what could turn the order of characters
around or hide is replaced, and the content security policy of the page lets nothing run or load, its own style apart.
"""

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from citeloop.rendering.answer_blocks import answer_blocks
from citeloop.rendering.course import course_of
from citeloop.rendering.evidence import ClaimEvidence, claim_evidence
from citeloop.rendering.places import cited_sources, cut, labels_of, place_of, safe_link, values_of
from citeloop.rendering.verdicts import STATUSES, checked_claims
from citeloop.state.models import RAGResponse

# Control characters, characters of no text, and the overrides that show a text in another order than it is written in.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202d\u202e\ud800-\udfff\ufeff\ufff9-\ufffb]")
_INLINE = re.compile(r"\*\*(?P<strong>[^*\n]{1,400})\*\*|`(?P<code>[^`\n]{1,400})`")


def answer_page(response: RAGResponse, passages: Mapping[str, str]) -> str:
    """The page of ``response``: a whole HTML document.

    ``passages`` are the texts of its sources by chunk id, so that a cited sentence is shown within its passage;
    without, it is shown by itself.
    """
    claims = checked_claims(response)
    evidence, labels = claim_evidence(response, claims, passages), labels_of(response)
    style = _style(len(claims))
    return _template().render(
        response=response,
        status=STATUSES[response.status],
        blocks=answer_blocks(response.answer, claims, labels),
        evidence=evidence,
        verdicts=_verdict_counts(evidence),
        labels=labels,
        footnotes=cited_sources(response),
        conflicts=[(conflict.about, values_of(conflict)) for conflict in response.conflicts],
        course=course_of(response),
        style=Markup(style),
        policy=f"default-src 'none'; style-src '{_digest(style)}'; base-uri 'none'; form-action 'none'",
    )


@lru_cache(maxsize=1)
def _template() -> Template:
    environment = Environment(
        autoescape=True, finalize=_printable, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"inline": _inline, "place": place_of, "link": safe_link, "cut": cut}
    return environment.from_string(_file("page.html.j2"))


def _file(name: str) -> str:
    return (resources.files(__package__) / name).read_text("utf-8")


def _printable(value: object) -> object:
    """What every value goes through on its way into the page, before it is escaped."""
    if not isinstance(value, str):
        return value
    shown = _UNPRINTABLE.sub("\ufffd", value)
    return Markup(shown) if isinstance(value, Markup) else shown


def _inline(text: str) -> Markup:
    """Bold and code as such; everything else stands as it is written."""
    shown, at = Markup(), 0
    for match in _INLINE.finditer(text):
        tag = match.lastgroup or ""
        shown += text[at : match.start()] + Markup(f"<{tag}>{{}}</{tag}>").format(match[tag])
        at = match.end()
    return shown + text[at:]


def _style(claims: int) -> str:
    """The style sheet, and for each claim the rules by which pointing at it, or focusing it, shows its evidence."""
    return _file("page.css") + "".join(
        f":root:has(.c{n}:hover) #evidence-{n},"
        f":root:not(:has(.claim:hover,.card:hover)):has(.c{n}:focus) #evidence-{n}{{--shown:visible;--lingers:0s}}\n"
        for n in range(1, claims + 1)
    )


def _digest(style: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()


def _verdict_counts(evidence: Sequence[ClaimEvidence]) -> list[tuple[str, str, str, int]]:
    """Kind, sign and label of each verdict given, with how often."""
    counts = Counter((item.claim.verdict, item.verdict.sign, item.verdict.label) for item in evidence)
    return [(*verdict, count) for verdict, count in counts.most_common()]
