"""Reading sets and choosing what is measured."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from citeloop.errors import InvalidRequest
from citeloop.evaluation.selection import Selection, corpora_to_search, select
from citeloop.evaluation.sets import EvaluationSet, LabelledIntent, Question, read_set

DOCUMENTS = [
    {"doc_id": "tea", "title": "Tea", "text": "Tea is made of leaves.", "corpus_id": "drinks"},
    {"doc_id": "bread", "title": "Bread", "text": "Bread is made of flour.", "corpus_id": "food"},
]
QUESTIONS = [
    {"qid": "q1", "question": "What is tea made of?", "answers": ["leaves"], "gold_doc_ids": ["tea"], "lang": "en"},
    {"qid": "q2", "question": "Woraus ist Brot?", "gold_doc_ids": ["bread"], "lang": "de", "hops": 1},
    {
        "qid": "q3",
        "question": "What is beer made of?",
        "type": "unanswerable",
        "context_doc_id": "tea",
        "tags": ["x", "y"],
    },
]


def write(folder: Path, **files: list[dict[str, object]]) -> Path:
    for name, rows in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


@pytest.fixture
def drinks_and_food(tmp_path: Path) -> EvaluationSet:
    return read_set(write(tmp_path, corpus=DOCUMENTS, questions=QUESTIONS))


def test_a_set_of_questions_is_read_with_its_unknown_fields(drinks_and_food: EvaluationSet) -> None:
    assert drinks_and_food.corpora == ("drinks", "food")
    assert [question.qid for question in drinks_and_food.questions] == ["q1", "q2", "q3"]
    assert dict(drinks_and_food.questions[0])["lang"] == "en"
    assert [question.unanswerable for question in drinks_and_food.questions] == [False, False, True]


def test_the_hash_follows_the_content(tmp_path: Path) -> None:
    first = read_set(write(tmp_path, corpus=DOCUMENTS, questions=QUESTIONS)).sha256
    assert read_set(tmp_path).sha256 == first
    assert read_set(write(tmp_path, questions=QUESTIONS[:2])).sha256 != first


def test_claims_and_intents_need_no_corpus(tmp_path: Path) -> None:
    claim = {"id": "c1", "claim": "Tea is wet.", "source": "Tea is a drink.", "supported": False}
    found = read_set(write(tmp_path, claims=[claim], intents=[{"question": "Why?", "label": "analytical"}]))
    assert (len(found.claims), len(found.intents), found.questions) == (1, 1, ())


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, "no evaluation set"),
        ({"corpus": DOCUMENTS}, "no evaluation set"),
        ({"questions": QUESTIONS}, "no evaluation set"),
        ({"corpus": DOCUMENTS, "questions": []}, "is empty"),
        ({"corpus": [*DOCUMENTS, DOCUMENTS[0]], "questions": QUESTIONS}, r"line 3: id 'tea' stands twice"),
        ({"corpus": DOCUMENTS, "questions": [{"qid": "q1"}]}, r"line 1, field question: Field required"),
        ({"corpus": DOCUMENTS[:1], "questions": QUESTIONS}, r"'q2': gold document 'bread' is not in corpus.jsonl"),
        ({"claims": [{"id": "1", "claim": "", "source": "", "supported": "perhaps"}]}, "field supported"),
    ],
)
def test_what_is_wrong_with_a_set_is_told_in_one_line(tmp_path: Path, files: dict, told: str) -> None:
    with pytest.raises(InvalidRequest, match=told) as raised:
        read_set(write(tmp_path, **files))
    assert "\n" not in str(raised.value)


def test_a_line_that_is_no_json_is_told_with_its_number(tmp_path: Path) -> None:
    write(tmp_path, corpus=DOCUMENTS, questions=QUESTIONS)
    with (tmp_path / "questions.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n{not json\n")
    with pytest.raises(InvalidRequest, match=r"questions.jsonl line 5: Invalid JSON"):
        read_set(tmp_path)


@pytest.mark.parametrize(
    ("where", "chosen"),
    [
        ([("lang", "en")], ["q1"]),
        ([("hops", "1")], ["q2"]),
        ([("tags", "y")], ["q3"]),
        ([("lang", "de"), ("hops", "1")], ["q2"]),
        ([("tags", "x"), ("tags", "y")], ["q3"]),
    ],
)
def test_rows_are_selected_by_any_field(
    drinks_and_food: EvaluationSet, where: list[tuple[str, str]], chosen: list[str]
) -> None:
    assert [row.qid for row in select(drinks_and_food, Selection(where=tuple(where))).questions] == chosen


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ([("langue", "en")], "lang, "),
        ([("lang", "fr")], "no row of .* has lang=fr"),
        ([("lang", "en"), ("lang", "de")], "lang=en and lang=de"),
    ],
)
def test_a_selection_that_finds_nothing_is_refused(
    drinks_and_food: EvaluationSet, where: list[tuple[str, str]], told: str
) -> None:
    with pytest.raises(InvalidRequest, match=told):
        select(drinks_and_food, Selection(where=tuple(where)))


def test_kinds_of_rows_without_the_field_are_left_out(drinks_and_food: EvaluationSet) -> None:
    both = replace(drinks_and_food, intents=(LabelledIntent(question="Why?", label="analytical"),))
    assert select(both, Selection(where=(("lang", "en"),))).intents == ()
    assert select(both, Selection()).intents == both.intents


def test_a_limited_sample_is_stable_spread_and_nested() -> None:
    rows = tuple(Question(qid=f"q{number}", question="?") for number in range(1000))

    def sample(questions: tuple[Question, ...], limit: int) -> list[int]:
        chosen = select(EvaluationSet("numbers", "", questions=questions), Selection(limit=limit))
        return [int(question.qid[1:]) for question in chosen.questions]

    small, large = sample(rows, 50), sample(rows, 200)
    assert len(small) == 50
    assert set(small) < set(large)
    assert max(small) > 500
    assert large == sorted(large)
    assert set(sample(rows[::-1], 50)) == set(small)


def test_every_question_searches_all_corpora_those_named_or_its_own(drinks_and_food: EvaluationSet) -> None:
    def searched(selection: Selection) -> list[tuple[str, ...]]:
        return corpora_to_search(drinks_and_food, selection)

    assert searched(Selection()) == [("drinks", "food")] * 3
    assert searched(Selection(corpora=("food",))) == [("food",)] * 3
    assert searched(Selection(own_corpus=True)) == [("drinks",), ("food",), ("drinks",)]


def test_a_question_may_name_its_own_corpus(drinks_and_food: EvaluationSet) -> None:
    question = Question(qid="q", question="?", corpus_id="food", context_doc_id="tea")
    asked = replace(drinks_and_food, questions=(question,))
    assert corpora_to_search(asked, Selection(own_corpus=True)) == [("food",)]


def test_corpora_that_cannot_be_found_are_told(drinks_and_food: EvaluationSet) -> None:
    with pytest.raises(InvalidRequest, match=r"no corpus 'toys' .* there are: drinks, food"):
        corpora_to_search(drinks_and_food, Selection(corpora=("toys",)))
    with pytest.raises(InvalidRequest, match="'q' names no corpus and no document"):
        homeless = replace(drinks_and_food, questions=(Question(qid="q", question="?"),))
        corpora_to_search(homeless, Selection(own_corpus=True))
