"""An answer as Markdown: what a terminal prints and a chat shows."""

from collections.abc import Iterator

from citeloop.rendering.places import cited_sources, cut, place_of
from citeloop.rendering.verdicts import failing_claims, verdict_sentence
from citeloop.state.models import AnswerClaim, Citation, RAGResponse

_CLAIM_CHARACTERS = 120


def answer_markdown(response: RAGResponse) -> str:
    """The answer, what a reader has to know before relying on it, and a footnote for each source that it cites."""
    return "\n\n".join([response.answer, *_warnings(response), *_footnotes(response)])


def _warnings(response: RAGResponse) -> Iterator[str]:
    if response.status == "low_confidence":
        yield f"**Low confidence ({response.confidence:.2f}): not every check passed, read the sources.**"
    if failing := failing_claims(response):
        yield "\n".join(["**Claims that did not pass:**", *map(_failing, failing)])


def _failing(claim: AnswerClaim) -> str:
    return f'- "{cut(claim.text, _CLAIM_CHARACTERS)}": {verdict_sentence(claim)}'


def _footnotes(response: RAGResponse) -> Iterator[str]:
    if notes := [f"[{cited.label or cited.citation_id}] {_footnote(cited)}" for cited in cited_sources(response)]:
        yield "---\n**Sources:**\n" + "\n".join(notes)


def _footnote(citation: Citation) -> str:
    where = ", ".join(filter(None, (place_of(citation), citation.uri)))
    shown = cut(citation.source_text)
    return f"{shown} ({where})" if where else shown
