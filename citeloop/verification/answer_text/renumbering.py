"""An answer whose citations by number are led to other numbers: each branch numbers its own passages from 1."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate

from citeloop.state.graph_state import Passage, Verdict
from citeloop.verification.answer_text.citations import Marker, parse_citations


def renumber(verdict: Verdict, passages: Sequence[Passage], numbers: Mapping[str, int]) -> Verdict:
    """``verdict``, reached over ``passages``, with each chunk cited under the number that ``numbers`` gives its id.

    The spans of the claims move along. Citations by label keep it in the answer.
    """
    labels = {str(p["number"]): str(numbers[p["chunk_id"]]) for p in passages if not p.get("label")}
    parsed = parse_citations(verdict["answer"], {label: int(label) for label in labels})
    answer, shifts = _rewrite(verdict["answer"], parsed.markers if labels else (), labels)
    moved: Verdict = {
        **verdict,
        "answer": answer,
        "citations": [
            {
                **citation,
                "citation_id": numbers[citation["source_chunk_id"]],
                "span_in_response": [shifts.moved(position) for position in citation["span_in_response"]],
            }
            for citation in verdict["citations"]
        ],
    }
    led_to = {passage["number"]: numbers[passage["chunk_id"]] for passage in passages}
    if "claims" in verdict:
        moved["claims"] = [
            {
                **claim,
                "citation_ids": [led_to[number] for number in claim["citation_ids"]],
                "span_in_response": [shifts.moved(position) for position in claim["span_in_response"]],
            }
            for claim in verdict["claims"]
        ]
    if "conflicts" in verdict:
        moved["conflicts"] = [
            {**conflict, "citation_ids": [led_to[number] for number in conflict["citation_ids"]]}
            for conflict in verdict["conflicts"]
        ]
    return moved


class _Shifts:
    """How far each position of a text has moved."""

    def __init__(self, ends: Sequence[int], gains: Sequence[int]) -> None:
        self._ends, self._moved = ends, [0, *accumulate(gains)]

    def moved(self, position: int) -> int:
        return position + self._moved[bisect_right(self._ends, position)]


def _rewrite(answer: str, markers: Sequence[Marker], labels: Mapping[str, str]) -> tuple[str, _Shifts]:
    pieces, at = [], 0
    for marker in markers:
        pieces += [answer[at : marker.start], f"[{labels[marker.label]}]"]
        at = marker.end
    gains = [len(labels[marker.label]) - len(marker.label) for marker in markers]
    return "".join([*pieces, answer[at:]]), _Shifts([marker.end for marker in markers], gains)
