"""Nothing was found, or nothing good enough: the refusal, without asking the generator."""

from typing_extensions import TypedDict

from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER
from citeloop.state.graph_state import CheckedDraft, QueryState
from citeloop.verification.refusal import refusal_verdict


class Refused(TypedDict):
    """A refusal in place of a draft."""

    best: CheckedDraft


async def refuse_answer(state: QueryState) -> Refused:
    """Refuse: no passage came out of the search, or none that is good enough where that is asked for.

    An empty context never reaches the generator.
    """
    found = "no passage that is good enough" if state.get("candidates") else "no passage"
    verdict = refusal_verdict(INDEX_HAS_NO_ANSWER, f"the search found {found}")
    return Refused(best=CheckedDraft(round=state["round"], verdict=verdict, passages=[]))
