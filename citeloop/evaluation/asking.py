"""Asking the questions of a set."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from citeloop.errors import CiteloopError
from citeloop.evaluation.sets import Question, Turn
from citeloop.state.config import RAGConfig
from citeloop.state.models import RAGResponse

ACCESS_REASON = "evaluation"
WARM_UP_QUESTION = "What is this about?"
MOST_MESSAGES, MOST_ANSWER_CHARACTERS = 8, 1_000
"""Of a question's history, so that it stays within what a graph takes as one input."""


class AnsweringEngine(Protocol):
    """What is measured: ``citeloop.RAGQueryEngine``, or anything that answers like it."""

    async def aquery(
        self,
        question: str,
        *,
        corpus_ids: Sequence[str] | None,
        access_reason: str,
        config: RAGConfig,
        history: Sequence[AnyMessage] = (),
    ) -> RAGResponse:
        """Answer ``question``, asked after the turns of ``history``, from the corpora named."""


@dataclass(frozen=True, slots=True)
class Task:
    """A question and the corpora to search for it."""

    question: Question
    corpora: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a question: a response, or the error that stood in its place."""

    question: Question
    response: RAGResponse | None
    latency_ms: float
    """Wall-clock milliseconds from question to response."""
    error: str = ""


async def ask_questions(
    engine: AnsweringEngine,
    tasks: Sequence[Task],
    config: RAGConfig,
    concurrency: int = 1,
    on_done: Callable[[], None] = lambda: None,
) -> list[Outcome]:
    """Ask every question and return the outcomes in the order of ``tasks``.

    One after the other by default, so that latencies are those of a question alone; ``concurrency`` questions at a time
    measure throughput. One question that is not measured warms the models up. An error never stops the run.
    """
    if tasks:
        await _ask(engine, Task(Question(qid="warm-up", question=WARM_UP_QUESTION), tasks[0].corpora), config)
    outcomes: list[Outcome | None] = [None] * len(tasks)

    async def work(waiting: Iterator[tuple[int, Task]]) -> None:
        for position, task in waiting:
            outcomes[position] = await _ask(engine, task, config)
            on_done()

    waiting = iter(enumerate(tasks))
    async with asyncio.TaskGroup() as workers:
        for _ in range(concurrency):
            workers.create_task(work(waiting))
    return [outcome for outcome in outcomes if outcome]


async def _ask(engine: AnsweringEngine, task: Task, config: RAGConfig) -> Outcome:
    response, message = None, ""
    started = time.perf_counter()
    try:
        response = await engine.aquery(
            task.question.question,
            corpus_ids=task.corpora,
            access_reason=ACCESS_REASON,
            config=config,
            history=_messages(task.question.history),
        )
    except Exception as error:  # whatever it is, it is counted and listed
        message = _told(error)
    return Outcome(task.question, response, (time.perf_counter() - started) * 1000, message)


def _messages(history: Sequence[Turn]) -> list[AnyMessage]:
    """The last turns, as the engine takes them."""
    return [
        HumanMessage(turn.text) if turn.role == "user" else AIMessage(turn.text[:MOST_ANSWER_CHARACTERS])
        for turn in history[-MOST_MESSAGES:]
    ]


def _told(error: Exception) -> str:
    code = error.code if isinstance(error, CiteloopError) else type(error).__name__
    return f"{code}: {error}"
