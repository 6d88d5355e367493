"""Nothing was found: the refusal, without asking the generator."""

from typing_extensions import TypedDict

from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER
from citeloop.state.graph_state import CheckedDraft, QueryState, Verdict


class Refused(TypedDict):
    """A refusal in place of a draft."""

    best: CheckedDraft


async def refuse_answer(state: QueryState) -> Refused:
    """Refuse: no passage came out of the search. An empty context never reaches the generator."""
    verdict = Verdict(
        answer=INDEX_HAS_NO_ANSWER,
        refused=True,
        citations=[],
        invalid_chunk_ids=[],
        invalid_share=0.0,
        confidence=0.0,
        passed=False,
        note="the search found no passage",
    )
    return Refused(best=CheckedDraft(round=state["round"], verdict=verdict, passages=[]))
