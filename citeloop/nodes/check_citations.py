"""The citations of a draft that is not corrected are checked, once."""

from typing_extensions import TypedDict

from citeloop.state.graph_state import CheckedDraft
from citeloop.state.multi_query_state import MultiQueryState
from citeloop.verification.draft_check import DraftCheck


class CitationsChecked(TypedDict):
    """The draft with its verdict."""

    best: CheckedDraft


async def check_citations(state: MultiQueryState, *, check: DraftCheck) -> CitationsChecked:
    """Each citation against the document that it names; those that name none are taken out of the answer."""
    draft = state["draft"]
    assert draft is not None, "only a draft is checked"
    verdict = await check.verify(state["request"]["question"], draft["text"], state["passages"])
    return CitationsChecked(best=CheckedDraft(round=0, verdict=verdict, passages=state["passages"]))
