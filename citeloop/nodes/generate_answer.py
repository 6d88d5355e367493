"""The draft: one model call over the numbered passages."""

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.errors import ModelError
from citeloop.models.chat_caller import ChatCaller
from citeloop.retrieval.context_budget import answer_room
from citeloop.retrieval.draft_prompt import draft_prompt
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import Draft, QueryState


class Generated(TypedDict, total=False):
    """The draft, or why there is none."""

    draft: Draft
    tokens: dict[str, int]
    model_failure: str


async def generate_answer(
    state: QueryState, runtime: Runtime[RAGConfig], config: RunnableConfig, *, caller: ChatCaller
) -> Generated:
    """Ask the model for a cited draft. Raises ``ModelError``, unless an earlier round left a draft to return."""
    prompt = await caller.workers.run(draft_prompt, state, state["passages"])
    settings = run_config(runtime.context, state["request"])
    try:
        reply = await caller.call(
            prompt.messages,
            config,
            name="sub_answer" if prompt.name == "sub_answer" else "draft",
            prompt=prompt.name,
            told={"round": state["round"], "strategy": state["analysis"]["strategy"]},
            timeout_s=settings.model_timeout_s if state.get("partial_answers") else None,
            max_tokens=answer_room(settings),
        )
    except ModelError as error:
        if state["best"] is None:
            raise
        return Generated(model_failure=f"{error.code}: {error}")
    return Generated(
        draft=Draft(text=reply.text, tokens=reply.tokens),
        tokens={f"generate_answer {state['round']}": reply.tokens},
        model_failure="",
    )
