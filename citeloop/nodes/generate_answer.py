"""The draft: one model call over the numbered passages."""

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.errors import ModelError
from citeloop.models.chat_caller import ChatCaller
from citeloop.prompts.grounded_answer import grounded_answer_messages, render_document
from citeloop.retrieval.context_budget import answer_room
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import Draft, QueryState
from citeloop.workers import WorkerPool


class Generated(TypedDict, total=False):
    """The draft, or why there is none."""

    draft: Draft
    tokens_used: int
    model_failure: str


async def generate_answer(
    state: QueryState, runtime: Runtime[RAGConfig], config: RunnableConfig, *, llm: BaseChatModel, workers: WorkerPool
) -> Generated:
    """Ask the model for a cited draft. Raises ``ModelError``, unless an earlier round left a draft to return."""
    messages = await workers.run(_prompt, state)
    settings = run_config(runtime.context, state["request"])
    try:
        reply = await ChatCaller(llm, workers).call(
            messages,
            config,
            name="draft",
            prompt="grounded_question",
            told={"round": state["round"], "strategy": state["analysis"]["strategy"]},
            max_tokens=answer_room(settings),
        )
    except ModelError as error:
        if state["best"] is None:
            raise
        return Generated(model_failure=f"{error.code}: {error}")
    draft = Draft(text=reply.text, tokens=reply.tokens)
    return Generated(draft=draft, tokens_used=state["tokens_used"] + draft["tokens"], model_failure="")


def _prompt(state: QueryState) -> list[BaseMessage]:
    documents = [render_document(p["number"], p["title"], p["heading_path"], p["text"]) for p in state["passages"]]
    return grounded_answer_messages(state["request"]["question"], documents)
