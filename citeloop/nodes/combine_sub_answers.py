"""The draft from the sub-answers (Sub-questions, step 4)."""

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.errors import ModelError
from citeloop.models.chat_caller import ChatCaller
from citeloop.prompts.library import Prompt
from citeloop.prompts.multi_query import fill, render_sub_answers
from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import Draft, QueryState
from citeloop.state.multi_query_config import SubQuestionsConfig
from citeloop.state.multi_query_state import MultiQueryState
from citeloop.verification.sub_answers import tell_missing


class Combined(TypedDict, total=False):
    """The draft, or why there is none."""

    draft: Draft
    tokens: dict[str, int]
    model_failure: str


async def combine_sub_answers(
    state: QueryState | MultiQueryState,
    runtime: Runtime[RAGConfig | SubQuestionsConfig],
    config: RunnableConfig,
    *,
    caller: ChatCaller,
    prompt: Prompt,
) -> Combined:
    """Answer the question from every sub-question and its answer; which part was not found is told in any case.

    Raises ``ModelError``, unless an earlier round left a draft to return.
    """
    pairs = [(part["sub_question"], part["answer"]) for part in state["sub_answers"]]
    messages = fill(
        prompt,
        {"question": state["request"]["question"]},
        {"sub_questions_and_answers": render_sub_answers(pairs)},
    )
    try:
        reply = await caller.call(
            messages, config, name="combine", prompt=prompt.name, timeout_s=runtime.context.model_timeout_s
        )
    except ModelError as error:
        if state["best"] is None:
            raise
        return Combined(model_failure=f"{error.code}: {error}")
    missing = [part["sub_question"] for part in state["sub_answers"] if not part["found"]]
    return Combined(
        draft=Draft(text=tell_missing(reply.text, missing), tokens=reply.tokens),
        tokens={f"combine_sub_answers {state['round']}": reply.tokens},
    )
