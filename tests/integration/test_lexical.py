"""The keyword index over real tantivy files."""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from citeloop.errors import StoreCorrupt
from citeloop.knowledge.corpus import Hit, OpenCorpus
from citeloop.knowledge.indexes import LexicalIndex
from citeloop.retrieval.lexical import TantivyLexicalIndex
from citeloop.retrieval.rank_fusion import merge_by_score
from citeloop.retrieval.term_weights import global_term_weights
from citeloop.text.words import content_stems

ROWS = [
    ("leave", "Annual leave. Every employee has 28 days of paid leave a year; unused days lapse in March."),
    ("travel", "Travel expenses. Trains are booked in second class; receipts are handed in within thirty days."),
    ("backup", "Backups are encrypted and restored once a quarter as a test."),
    ("schicht", "Überstunden werden am Monatsende ausgezahlt."),
    ("kyuka", "有給休暇は年に二十八日あります。"),
    ("geunmu", "재택근무는 일주일에 이틀까지 가능합니다."),
]


def corpus(name: str = "handbook") -> OpenCorpus:
    return OpenCorpus(id=f"{name}-id", name=name, embedding_model="m", dimension=3, version=1)


def ask(index: LexicalIndex, question: str, corpora: Sequence[OpenCorpus] = (), top_k: int = 10) -> list[Hit]:
    opened = corpora or [corpus()]
    stems = content_stems(question)
    weights = global_term_weights(index.statistics(one, stems) for one in opened)
    return merge_by_score([index.search(one, weights, top_k) for one in opened], top_k)


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.chunk_id for hit in hits]


@pytest.fixture
def index(tmp_path: Path) -> LexicalIndex:
    index = TantivyLexicalIndex(tmp_path / "lexical")
    index.upsert(corpus(), ROWS)
    return index


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("How is a restore tested?", "backup"),
        ("Which class do I book on a TRAIN?", "travel"),
        ("Wann werden überstunden ausgezahlt?", "schicht"),
        ("休暇は何日ありますか", "kyuka"),
        ("재택근무 가능한가요", "geunmu"),
    ],
)
def test_questions_of_several_scripts_find_their_chunk(index: LexicalIndex, question: str, best: str) -> None:
    assert ids(ask(index, question))[0] == best


@pytest.mark.parametrize(
    ("rows", "question", "best"),
    [
        ([("cat", "猫が庭にいます。"), ("dog", "犬が庭にいます。")], "猫は?", "cat"),
        ([("tax", "税率は一割です。"), ("fee", "料金は一割です。")], "税", "tax"),
        ([("tax", "个人所得税率为百分之二十。"), ("fee", "服务费为百分之二十。")], "税是多少", "tax"),
        ([("book", "책이 서랍에 있다."), ("key", "열쇠가 서랍에 있다.")], "책은?", "book"),
        ([("tax", "ภาษีเงินได้บุคคลธรรมดา"), ("leave", "วันหยุดพักร้อน")], "ภาษี", "tax"),
    ],
)
def test_words_of_one_character_are_found(
    index: LexicalIndex, rows: Sequence[tuple[str, str]], question: str, best: str
) -> None:
    index.upsert(corpus("short"), rows)
    assert ids(ask(index, question, [corpus("short")]))[0] == best


def test_only_chunks_that_hold_a_term_are_hits_and_score_over_zero(index: LexicalIndex) -> None:
    hits = ask(index, "days of leave")
    assert sorted(ids(hits)) == ["leave", "travel"]
    assert all(hit.score > 0 for hit in hits)
    assert hits == ask(index, "days of leave, leave leave days")  # a repeated word counts once
    assert ids(ask(index, "days of leave", top_k=1)) == ids(hits)[:1]


def test_nothing_to_look_for_finds_nothing(index: LexicalIndex) -> None:
    assert ask(index, "What is it that we are?") == []
    assert ask(index, "zeppelin") == []
    assert ask(index, "leave", top_k=0) == []


def test_a_corpus_never_written_to_has_no_hits_and_is_not_created(tmp_path: Path) -> None:
    index = TantivyLexicalIndex(tmp_path / "lexical")
    assert ask(index, "leave") == []
    assert index.statistics(corpus(), ["leav"]).document_frequency == {"leav": 0}
    index.delete(corpus(), ["leave"])
    index.upsert(corpus(), [])
    assert not (tmp_path / "lexical").exists()


def test_scores_are_bm25_with_the_weights_given(index: LexicalIndex) -> None:
    stems = {chunk_id: Counter(content_stems(text)) for chunk_id, text in ROWS}
    average = sum(count.total() for count in stems.values()) / len(stems)
    weights = {"day": 3.0, "leav": 0.5}

    def bm25(count: Counter[str]) -> float:
        norm = 1.2 * (0.25 + 0.75 * count.total() / average)
        return sum(weight * 2.2 * count[term] / (count[term] + norm) for term, weight in weights.items())

    expected = {chunk_id: bm25(count) for chunk_id, count in stems.items() if bm25(count)}
    assert dict(index.search(corpus(), weights, 10)) == pytest.approx(expected, rel=1e-5)


def test_a_row_of_a_known_id_replaces_it_and_deleted_rows_leave_no_mark_on_the_scores(index: LexicalIndex) -> None:
    index.upsert(
        corpus(), [("draft", "leave leave leave"), ("backup", "Tapes"), ("backup", "Leave the tapes in the safe")]
    )
    weights = {"leav": 2.0, "tape": 1.0, "restor": 1.0}
    assert sorted(ids(index.search(corpus(), weights, 10))) == ["backup", "draft", "leave"]
    before = dict(index.search(corpus(), {"tape": 1.0}, 10))
    index.delete(corpus(), ["draft", "unknown"])
    assert sorted(ids(index.search(corpus(), weights, 10))) == ["backup", "leave"]
    assert dict(index.search(corpus(), {"tape": 1.0}, 10)) == pytest.approx(before)


def test_a_corpus_about_something_else_does_not_win_by_its_own_rarity(index: LexicalIndex) -> None:
    elsewhere = corpus("gardening")
    index.upsert(elsewhere, [(f"g{number}", f"Roses and hedges, plot {number}") for number in range(50)])
    index.upsert(elsewhere, [("odd", "Roses want paid helpers")])
    assert ids(ask(index, "How many days of paid leave?", [elsewhere, corpus()]))[0] == "leave"


def test_the_order_of_equal_scores_is_that_of_the_ids(tmp_path: Path) -> None:
    index = TantivyLexicalIndex(tmp_path)
    for chunk_id in ("c", "a", "b"):
        index.upsert(corpus(), [(chunk_id, "the same words")])
    assert ids(ask(index, "same words")) == ["a", "b", "c"]


def test_searches_from_many_threads_while_one_writes(index: LexicalIndex) -> None:
    with ThreadPoolExecutor(8) as pool:
        searches = [pool.submit(ask, index, "annual leave") for _ in range(200)]
        for number in range(5):
            index.upsert(corpus(), [(f"new{number}", "Annual leave for new staff")])
        assert all(len(search.result()) >= 1 for search in searches)
    assert len(ask(index, "annual leave")) == 6


def test_dropping_a_corpus_removes_its_files_and_it_can_be_filled_again(index: LexicalIndex, tmp_path: Path) -> None:
    assert ask(index, "leave")
    index.drop(corpus())
    index.drop(corpus())
    assert ask(index, "leave") == []
    assert list((tmp_path / "lexical").iterdir()) == []
    index.upsert(corpus(), ROWS[:1])
    assert ids(ask(index, "leave")) == ["leave"]


def _empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [Path.unlink, _empty])
@pytest.mark.parametrize("pattern", ["*.term", "*.idx", "*.store"])
def test_a_damaged_index_says_which_folder_to_delete(
    index: LexicalIndex, tmp_path: Path, pattern: str, damage: Callable[[Path], None]
) -> None:
    for path in (tmp_path / "lexical").rglob(pattern):
        damage(path)
    with pytest.raises(StoreCorrupt, match=r"'handbook'.*delete the folder .*handbook-id"):
        ask(TantivyLexicalIndex(tmp_path / "lexical"), "leave")
