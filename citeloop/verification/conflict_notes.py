"""What an answer says of conflicts between sources: a sentence for each, from a template, that cites both."""

import re
from collections.abc import Iterable, Iterator, Sequence

from citeloop.state.graph_state import Passage, Verdict
from citeloop.state.models import AnswerClaim, Citation, Conflict
from citeloop.verification.evidence.conflicts import Disagreement, find_disagreements
from citeloop.verification.evidence.support import QUOTE_SUPPORT

_MOST_NOTES, _MOST_VALUES = 3, 4
_ABOUT_CHARACTERS = 120
_NOTE = re.compile(r"(?<!\n)\n*+^Sources disagree on “[^\n]*$", re.MULTILINE)


def without_notes(answer: str) -> str:
    """``answer`` as it was before conflicts were noted: what is checked anew gets notes anew."""
    return _NOTE.sub("", answer)


def note_conflicts(verdict: Verdict, passages: Sequence[Passage], threshold: float) -> Verdict:
    """``verdict`` with the conflicts between its sources and other ``passages``, each told at the end of its answer.

    A note is checked by how it is made: each value stands word for word in the sentence that it cites.
    """
    if verdict["refused"]:
        return verdict
    citations = [Citation.model_validate(citation) for citation in verdict["citations"]]
    groups = list(_grouped(find_disagreements(citations, passages, threshold)))[:_MOST_NOTES]
    for group in groups:
        verdict = _noted(verdict, group)
    return verdict


def _grouped(found: Iterable[Disagreement]) -> Iterator[list[Disagreement]]:
    """Those about one value, each other value once, the first source that gives it; the same values never twice."""
    groups: dict[tuple[str, str], dict[tuple[float, ...], Disagreement]] = {}
    told: set[frozenset[tuple[str, int]]] = set()
    for one in found:
        about = (one.citation.source_text, one.value.text)
        groups.setdefault(about, {}).setdefault(one.other.amount, one)
    for group in groups.values():
        several = list(group.values())[: _MOST_VALUES - 1]
        values = frozenset(_values(several))
        if values not in told:
            told.add(values)
            yield several


def _values(group: Sequence[Disagreement]) -> Iterator[tuple[str, int]]:
    """The values that a group tells, with the number of the source of each."""
    yield group[0].value.told, group[0].citation.citation_id
    yield from ((one.other.told, one.passage["number"]) for one in group)


def _noted(verdict: Verdict, group: Sequence[Disagreement]) -> Verdict:
    conflict, sources = _conflict(group), [group[0].citation, *map(_as_citation, group)]
    labels = [source.label or str(source.citation_id) for source in sources]
    told = ", ".join(f"{value} [{label}]" for value, label in zip(conflict.values, labels, strict=True))
    note = f"Sources disagree on “{conflict.about}”: {told}."
    answer = f"{verdict['answer']}\n\n{note}"
    claim = AnswerClaim(
        text=f"Sources disagree on “{conflict.about}”: {', '.join(conflict.values)}.",
        span_in_response=(len(answer) - len(note), len(answer)),
        verdict="supported",
        support=QUOTE_SUPPORT,
        citation_ids=conflict.citation_ids,
        reason="each value stands word for word in its source",
    )
    cited = {"claim_text": claim.text, "span_in_response": claim.span_in_response, "confidence": QUOTE_SUPPORT}
    noted: Verdict = {
        **verdict,
        "answer": answer,
        "citations": [*verdict["citations"], *(s.model_copy(update=cited).model_dump(mode="json") for s in sources)],
        "conflicts": [*verdict.get("conflicts", ()), conflict.model_dump(mode="json")],
    }
    if "claims" in verdict:
        noted["claims"] = [*verdict["claims"], claim.model_dump(mode="json")]
    return noted


def _conflict(group: Sequence[Disagreement]) -> Conflict:
    first = group[0]
    sentence, value = first.citation.source_text, first.value
    bound = value.start - len(value.bound) - 1 if value.bound else value.start
    about = " ".join(f"{sentence[:bound]}…{sentence[value.end :]}".split()).rstrip(".")
    values, numbers = zip(*_values(group), strict=True)
    return Conflict(about=re.sub(r"[\[\]“”]", "", about)[:_ABOUT_CHARACTERS], values=values, citation_ids=numbers)


def _as_citation(found: Disagreement) -> Citation:
    passage, (start, end) = found.passage, found.span
    return Citation(
        citation_id=passage["number"],
        claim_text="",
        source_chunk_id=passage["chunk_id"],
        source_text=passage["text"][start:end],
        confidence=QUOTE_SUPPORT,
        span_in_response=(0, 0),
        document_title=passage["title"],
        uri=passage["uri"],
        heading_path=tuple(passage["heading_path"]),
        source_start=passage["start"] + start,
        source_end=passage["start"] + end,
        label=passage.get("label", ""),
    )
