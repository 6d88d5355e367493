"""One branch of the map: what a group of passages says that bears on the question, as a checked partial answer."""

import asyncio
import logging

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.branch_failure import BRANCH_ENDS, branch_failure
from citeloop.governance.identity import caller_of
from citeloop.models.chat_caller import ChatCaller, ChatReply
from citeloop.prompts.refusals import NO_EVIDENCE
from citeloop.retrieval.context_budget import answer_room
from citeloop.retrieval.partial_answer_prompt import leading_lines, partial_answer_prompt
from citeloop.retrieval.passage_groups import PassageGroups
from citeloop.retrieval.passages import PassageReader
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import MappedGroup, MapTask, Passage, SearchFailure, Verdict
from citeloop.verification.draft_verifier import DraftVerifier
from citeloop.verification.partial_answers import cited_passages
from citeloop.verification.refusal import refusal_verdict
from citeloop.workers import WorkerPool

_log = logging.getLogger(__name__)


class Mapped(TypedDict):
    """The branch's result, and why it dropped out where it did, under keys of its own."""

    mapped: dict[str, MappedGroup]
    search_failures: dict[str, SearchFailure]
    tokens: dict[str, int]


async def map_group(
    task: MapTask,
    runtime: Runtime[RAGConfig],
    config: RunnableConfig,
    *,
    reader: PassageReader,
    caller: ChatCaller,
    verifier: DraftVerifier,
    workers: WorkerPool,
) -> Mapped:
    """Read the group by one model call, within the time allowed to a search and a model call.

    A failed or slow branch is recorded and logged; its siblings stand. What of the partial answer exceeds its room is
    cut off by lines.
    """
    settings = run_config(runtime.context, task["request"])
    key, failures = f"{task['round']:02d}|{task['key']}", dict[str, SearchFailure]()
    result, limit = _unanswered(task), settings.search_timeout_s + settings.model_timeout_s
    try:
        async with asyncio.timeout(limit):
            passages = await workers.run(PassageGroups(reader).read, task["candidates"], caller_of(config))
            if passages:
                reply = await _note(task, passages, settings, config, caller)
                result["tokens"] = reply.tokens
                checked = await workers.run(_check, reply.text, passages, task, settings, verifier)
                result["verdict"], result["passages"] = checked
    except BRANCH_ENDS as failure:  # whatever went wrong in one branch must not end the others
        result["error"] = branch_failure(failure, limit)
        failures[key] = SearchFailure(query=task["request"]["question"], corpus="", error=result["error"])
        _log.warning("group %s of passages dropped out: %s", task["key"], result["error"])
    return Mapped(mapped={key: result}, search_failures=failures, tokens={f"map_group {key}": result["tokens"]})


async def _note(
    task: MapTask, passages: list[Passage], settings: RAGConfig, config: RunnableConfig, caller: ChatCaller
) -> ChatReply:
    prompt = await caller.workers.run(partial_answer_prompt, task["request"], passages, task["room"])
    return await caller.call(
        prompt.messages,
        config,
        name="partial_answer",
        prompt=prompt.name,
        told={"round": task["round"], "group": task["key"]},
        timeout_s=settings.model_timeout_s,
        max_tokens=answer_room(settings),
    )


def _check(
    text: str, passages: list[Passage], task: MapTask, settings: RAGConfig, verifier: DraftVerifier
) -> tuple[Verdict, list[Passage]]:
    """The verdict on the partial answer, and the passages that it rests on."""
    noted = leading_lines(text, task["room"])
    verdict = verifier.verify(task["request"]["question"], noted, passages, settings)
    may_cite_nothing = not (verdict["refused"] or settings.require_citations)
    return verdict, cited_passages(verdict, passages) or (passages if may_cite_nothing else [])


def _unanswered(task: MapTask) -> MappedGroup:
    return MappedGroup(
        key=task["key"],
        round=task["round"],
        verdict=refusal_verdict(NO_EVIDENCE, "nothing in the group bears on the question"),
        passages=[],
        tokens=0,
        error="",
        candidates=task["candidates"],
        room=task["room"],
    )
