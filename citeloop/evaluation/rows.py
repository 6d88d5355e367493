"""One line a question, for reading what went wrong."""

import json
from collections.abc import Iterable
from pathlib import Path

from citeloop.evaluation.ranking import distinct_documents, ranked_documents
from citeloop.evaluation.scoring import QuestionScore


def write_rows(path: Path, scores: Iterable[QuestionScore]) -> None:
    """Write a JSONL file: question, gold, answer, what was found and cited, and how it scored."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(_row(score), ensure_ascii=False) + "\n" for score in scores)


def _row(score: QuestionScore) -> dict[str, object]:
    question, response, answer = score.question, score.response, score.answer
    row: dict[str, object] = {
        "qid": question.qid,
        "type": question.type,
        "question": question.question,
        "answers": question.answers,
        "gold_doc_ids": question.gold_doc_ids,
        "answer_hit": answer.hit if answer else None,
        "answer_in_first_citation": answer.hit_in_first_citation if answer else None,
    }
    if response:
        row |= {
            "status": response.status,
            "answer": response.answer,
            "confidence": response.confidence,
            "correction_rounds": response.correction_rounds,
            "ranked_doc_ids": ranked_documents(response),
            "cited_doc_ids": distinct_documents(citation.uri for citation in response.citations),
            "latency_ms": score.latency_ms,
            "timings_ms": response.timings_ms,
        }
    return row
