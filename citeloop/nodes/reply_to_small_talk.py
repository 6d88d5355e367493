"""Nothing is asked of the documents: a reply of fixed words, without a search and without a model."""

from typing_extensions import TypedDict

from citeloop.prompts.small_talk import SMALL_TALK_REPLY
from citeloop.state.graph_state import CheckedDraft, QueryState
from citeloop.verification.refusal import small_talk_verdict


class Replied(TypedDict):
    """The reply in place of a draft."""

    best: CheckedDraft


async def reply_to_small_talk(state: QueryState) -> Replied:
    """Reply to a greeting, to thanks, or to a question about the assistant itself; status ``small_talk``."""
    return Replied(best=CheckedDraft(round=state["round"], verdict=small_talk_verdict(SMALL_TALK_REPLY), passages=[]))
