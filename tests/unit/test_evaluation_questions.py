"""Asking, scoring and counting questions, with an engine of fixed replies."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from langchain_core.messages import AnyMessage

from citeloop.errors import ModelTimeout
from citeloop.evaluation.asking import WARM_UP_QUESTION, Task, ask_questions
from citeloop.evaluation.evaluate import evaluate_questions
from citeloop.evaluation.report import QuestionReport
from citeloop.evaluation.sets import Question
from citeloop.state.config import RAGConfig
from citeloop.state.models import Citation, RAGResponse, RetrievalContext, SourceReference


def source(number: int, doc_id: str) -> SourceReference:
    return SourceReference(
        number=number, chunk_id=f"chunk-{doc_id}", corpus="c", document_id=doc_id, title="",
        uri=f"documents.jsonl#{doc_id}", start=0, end=9, score=1.0,
    )  # fmt: skip


def citation(number: int, doc_id: str, text: str, span: tuple[int, int], confidence: float = 0.9) -> Citation:
    return Citation(
        citation_id=number, claim_text="", source_chunk_id=f"chunk-{doc_id}", source_text=text, confidence=confidence,
        span_in_response=span, uri=f"documents.jsonl#{doc_id}",
    )  # fmt: skip


def reply(
    answer: str, ranked: Sequence[str], context: Sequence[str] = (), citations: Sequence[Citation] = ()
) -> RAGResponse:
    sources = tuple(source(number, doc_id) for number, doc_id in enumerate(context, start=1))
    return RAGResponse(
        answer=answer,
        status="answered" if citations else "no_evidence",
        confidence=0.9,
        citations=tuple(citations),
        sources=sources,
        context_used=RetrievalContext(chunks=sources),
        trace={"ranked_chunks": [{"chunk_id": doc, "document_uri": f"documents.jsonl#{doc}"} for doc in ranked]},
    )


class FixedReplies:
    """Answers from a table; an exception in the table is raised."""

    def __init__(self, replies: Mapping[str, RAGResponse | Exception]) -> None:
        self.replies = replies
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.running = self.most_running = 0

    async def aquery(
        self,
        question: str,
        *,
        corpus_ids: Sequence[str] | None,
        access_reason: str,
        config: RAGConfig | None,
        history: Sequence[AnyMessage] = (),
    ) -> RAGResponse:
        assert access_reason
        self.asked.append((question, tuple(corpus_ids or ())))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        found = self.replies.get(question) or reply("No evidence found", [])
        if isinstance(found, Exception):
            raise found
        return found


TEA = Question(qid="q1", question="tea?", type="factual", answers=("leaves",), gold_doc_ids=("tea",))
MIXED = Question(
    qid="q2", question="bread and beer?", type="multi_hop", answers=("grain",), gold_doc_ids=("bread", "beer")
)
BROKEN = Question(qid="q3", question="broken?", type="factual", answers=("x",), gold_doc_ids=("tea",))
NEAR_MISS = Question(qid="q4", question="coffee?", type="unanswerable", context_doc_id="tea")
WRONGLY_REFUSED = Question(qid="q5", question="milk?", type="factual", answers=("cows",), gold_doc_ids=("milk",))

REPLIES: dict[str, RAGResponse | Exception] = {
    "tea?": reply(
        "Tea is made of dried leaves [1]. It is served hot [2].",
        ranked=["tea", "tea", "bread"],
        context=["tea", "bread"],
        citations=[
            citation(2, "bread", "It is served hot.", (32, 53), confidence=0.2),
            citation(1, "tea", "Tea is made of dried leaves.", (0, 31)),
        ],
    ),
    "bread and beer?": reply(
        "Bread is made of flour [1].",
        ranked=["x", "beer"],
        context=["x"],
        citations=[citation(1, "x", "Bread is made of flour, flour of grain.", (0, 27))],
    ),
    "broken?": ModelTimeout("no reply in 30 s"),
    "coffee?": reply("No evidence found", ranked=["tea"]),
    "milk?": reply("No evidence found", ranked=["tea", "milk"]),
}
ALL = [TEA, MIXED, BROKEN, NEAR_MISS, WRONGLY_REFUSED]


@pytest.fixture
async def report() -> QuestionReport:
    tasks = [Task(question, ("c",)) for question in ALL]
    return (await evaluate_questions(FixedReplies(REPLIES), tasks, RAGConfig()))[0]


@pytest.mark.parametrize(
    ("name", "value", "n"),
    [
        ("recall@1", 1 / 4, 4),  # tea found, bread and beer half found at 2, broken none, milk at 2
        ("recall@2", (1 + 0.5 + 0 + 1) / 4, 4),
        ("mrr@10", (1 + 0.5 + 0 + 0.5) / 4, 4),
        ("retrieval_relevance", 2 / 4, 4),
        ("answered_share", 2 / 5, 5),
        ("answered_share_answerable", 2 / 4, 4),
        ("answer_hit", 1 / 4, 4),
        ("answer_in_first_citation", 2 / 4, 4),
        ("answer_words", 7.5, 2),
        ("citation_precision", 1 / 3, 2),
        ("citation_coverage", 2 / 3, 2),
        ("refusal_precision", 1 / 2, 2),
        ("refusal_recall", 1.0, 1),
        ("refusal_f1", 2 / 3, 2),
        ("correction_rounds", 0.0, 4),
    ],
)
def test_each_figure_is_what_its_name_says(report: QuestionReport, name: str, value: float, n: int) -> None:
    figure = report.metrics[name]
    assert figure is not None
    assert figure.value == pytest.approx(value)
    assert figure.n == n
    assert figure.low <= figure.value <= figure.high


def test_a_question_that_raises_is_listed_and_counted_as_missed(report: QuestionReport) -> None:
    assert [(failure.qid, failure.error) for failure in report.errors] == [("q3", "model_timeout: no reply in 30 s")]
    assert report.statuses == {"answered": 2, "error": 1, "no_evidence": 2}
    latencies = report.metrics["p50_ms"]
    assert latencies is not None and latencies.n == 4


def test_figures_are_told_by_type(report: QuestionReport) -> None:
    assert list(report.by_type) == ["factual", "multi_hop", "unanswerable"]
    assert report.by_type["multi_hop"]["answer_hit"] is not None
    assert report.by_type["multi_hop"]["answer_hit"].value == 0.0
    assert report.by_type["unanswerable"]["recall@5"] is None


async def test_recall_counts_documents_and_not_their_passages() -> None:
    ranked = [doc for number in range(9) for doc in [f"other{number}"] * 3] + ["tea"]
    engine = FixedReplies({"tea?": reply("No evidence found", ranked)})
    report, _ = await evaluate_questions(engine, [Task(TEA, ("c",))], RAGConfig())
    figures = [report.metrics[name] for name in ("recall@5", "recall@10", "mrr@10", "retrieval_relevance")]
    assert [figure and figure.value for figure in figures] == [0.0, 1.0, pytest.approx(0.1), 1.0]


async def test_no_refusal_figures_where_nothing_is_unanswerable() -> None:
    report, _ = await evaluate_questions(FixedReplies(REPLIES), [Task(TEA, ("c",))], RAGConfig())
    assert not [name for name in report.metrics if name.startswith("refusal")]


async def test_questions_are_asked_one_by_one_in_their_corpora_after_one_that_is_not_measured() -> None:
    engine = FixedReplies(REPLIES)
    outcomes = await ask_questions(engine, [Task(TEA, ("a",)), Task(MIXED, ("b", "c"))], RAGConfig())
    assert engine.asked == [(WARM_UP_QUESTION, ("a",)), ("tea?", ("a",)), ("bread and beer?", ("b", "c"))]
    assert engine.most_running == 1
    assert [outcome.question.qid for outcome in outcomes] == ["q1", "q2"]


async def test_concurrent_questions_keep_their_order_and_the_limit() -> None:
    engine = FixedReplies({})
    tasks = [Task(Question(qid=str(number), question=f"question {number}"), ("c",)) for number in range(20)]
    done: list[None] = []
    outcomes = await ask_questions(engine, tasks, RAGConfig(), concurrency=4, on_done=lambda: done.append(None))
    assert engine.most_running == 4
    assert [outcome.question.qid for outcome in outcomes] == [str(number) for number in range(20)]
    assert len(done) == 20
