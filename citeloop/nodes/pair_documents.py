"""The documents of the question and those of the step-back question, told apart (Step-back query, step 2)."""

import logging

from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from citeloop.prompts.library import Prompt
from citeloop.retrieval.found_documents import passages_by_id, require_one_answer, trace_query
from citeloop.retrieval.prompt_passages import number_fitting
from citeloop.state.graph_state import Passage
from citeloop.state.multi_query_config import StepBackConfig
from citeloop.state.multi_query_state import MultiQueryTrace, QueryOrigin, StepBackState

_log = logging.getLogger(__name__)


class Paired(TypedDict):
    """The documents for the generator, the specific ones first."""

    passages: list[Passage]
    background_ids: list[str]
    found: Overwrite
    trace: MultiQueryTrace


async def pair_documents(state: StepBackState, runtime: Runtime[StepBackConfig], *, prompt: Prompt) -> Paired:
    """Keep both sets; the specific ones come first where room is short, and a document of both sets is specific.

    Raises ``SearchFailed`` when both retrievals dropped out.
    """
    found = list(state["found"].values())
    require_one_answer(["" if one["passages"] else one["error"] for one in found])
    question, general = state["request"]["question"], state["step_back_question"]
    _log.info("question %r steps back to %r", question, general)
    specific, background = (passages_by_id(_of(state, origin)) for origin in ("question", "step_back"))
    documents = passages_by_id([*specific.values(), *background.values()])
    background_ids = [chunk_id for chunk_id in background if chunk_id not in specific]
    return Paired(
        passages=number_fitting(list(documents.values()), prompt.text + question + general, runtime.context),
        background_ids=background_ids,
        found=Overwrite({}),
        trace=MultiQueryTrace(queries=[trace_query(one) for one in found], background=background_ids),
    )


def _of(state: StepBackState, origin: QueryOrigin) -> list[Passage]:
    return [passage for one in state["found"].values() if one["origin"] == origin for passage in one["passages"]]
