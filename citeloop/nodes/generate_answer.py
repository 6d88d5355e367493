"""The draft: one model call over the numbered passages, its claims checked while it is written."""

from contextlib import nullcontext

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.errors import ModelError
from citeloop.models.chat_caller import ChatCaller
from citeloop.retrieval.context_budget import answer_room
from citeloop.retrieval.draft_prompt import draft_prompt
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import Draft, QueryState
from citeloop.state.models import AnswerClaim
from citeloop.state.stream_events import claim_checked
from citeloop.verification.draft_verifier import DraftVerifier
from citeloop.verification.draft_watch import DraftWatch, SentenceVerifier


class Generated(TypedDict, total=False):
    """The draft, or why there is none."""

    draft: Draft
    tokens: dict[str, int]
    model_failure: str


async def generate_answer(
    state: QueryState,
    runtime: Runtime[RAGConfig],
    config: RunnableConfig,
    *,
    caller: ChatCaller,
    verifier: DraftVerifier | None = None,
) -> Generated:
    """Ask the model for a cited draft. Raises ``ModelError``, unless an earlier round left a draft to return.

    Where the model streams and ``verifier`` can check sentences, it does so while they are written.
    """
    prompt = await caller.workers.run(draft_prompt, state, state["passages"])
    settings = run_config(runtime.context, state["request"])
    watch = _watch(state, runtime, settings, caller, verifier)
    try:
        async with watch or nullcontext():
            reply = await caller.call(
                prompt.messages,
                config,
                name="sub_answer" if prompt.name == "sub_answer" else "draft",
                prompt=prompt.name,
                told={"round": state["round"], "strategy": state["analysis"]["strategy"]},
                on_text=watch.hear if watch else None,
                timeout_s=settings.model_timeout_s if state.get("partial_answers") else None,
                max_tokens=answer_room(settings),
            )
            if watch:
                await watch.finish()
    except ModelError as error:
        if state["best"] is None:
            raise
        return Generated(model_failure=f"{error.code}: {error}")
    return Generated(
        draft=Draft(text=reply.text, tokens=reply.tokens, watched=watch is not None),
        tokens={f"generate_answer {state['round']}": reply.tokens},
        model_failure="",
    )


def _watch(
    state: QueryState,
    runtime: Runtime[RAGConfig],
    settings: RAGConfig,
    caller: ChatCaller,
    verifier: DraftVerifier | None,
) -> DraftWatch | None:
    if not (isinstance(verifier, SentenceVerifier) and caller.streams) or settings.claim_policy == "off":
        return None

    def tell(claim: AnswerClaim, number: int) -> None:
        runtime.stream_writer(claim_checked(claim, number, node="generate_answer", round=state["round"]))

    return DraftWatch(verifier, state["passages"], settings, caller.workers, tell)
