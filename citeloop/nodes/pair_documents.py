"""The documents of the question and those of the step-back question, told apart (Step-back query, step 2)."""

import logging
from collections.abc import Iterable

from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from citeloop.prompts.library import Prompt
from citeloop.retrieval.found_documents import passages_by_id, require_one_answer, trace_query
from citeloop.retrieval.prompt_passages import number_fitting
from citeloop.retrieval.query_plan import query_from
from citeloop.state.graph_state import Passage
from citeloop.state.models import QueryOrigin
from citeloop.state.multi_query_config import StepBackConfig
from citeloop.state.multi_query_state import FoundDocuments, MultiQueryState, MultiQueryTrace

_log = logging.getLogger(__name__)


class Paired(TypedDict):
    """The documents for the generator, the specific ones first."""

    passages: list[Passage]
    found: Overwrite
    trace: MultiQueryTrace


async def pair_documents(state: MultiQueryState, runtime: Runtime[StepBackConfig], *, prompt: Prompt) -> Paired:
    """Keep both sets; the specific ones come first where room is short, and a document of both sets is specific.

    Raises ``SearchFailed`` when both retrievals dropped out.
    """
    found = list(state["found"].values())
    require_one_answer(["" if one["passages"] else one["error"] for one in found])
    question, general = state["request"]["question"], query_from(state["queries"], "step_back")
    _log.info("question %r steps back to %r", question, general)
    specific, background = (passages_by_id(_of(found, origin)) for origin in ("question", "step_back"))
    documents = passages_by_id([*specific.values(), *background.values()])
    background_ids = [chunk_id for chunk_id in background if chunk_id not in specific]
    return Paired(
        passages=number_fitting(list(documents.values()), prompt.text + question + general, runtime.context),
        found=Overwrite({}),
        trace=MultiQueryTrace(queries=[trace_query(one) for one in found], background=background_ids),
    )


def _of(found: Iterable[FoundDocuments], origin: QueryOrigin) -> list[Passage]:
    return [{**p, "origin": origin} for one in found if one["origin"] == origin for p in one["passages"]]
