"""Relations in the store: read once a chunk, gone with their documents, whatever the model or the text does."""

import threading
from pathlib import Path

import pytest
from filelock import FileLock

from citeloop.errors import CorpusNotFound, ModelUnavailable, StoreBusy
from citeloop.knowledge.relation_report import RelationReport
from citeloop.state.models import UserContext
from tests.integration.knowledge_stack import CALLER, KnowledgeStack, open_stack, relations
from tests.openai_stub import OpenAIStub, StubReply
from tests.relation_reading import indexer_over, read_by_pattern, write_films

FILMS = ("Amber Tide", "Cold Mill", "Dry Well")


@pytest.fixture
def stack(home: Path, tmp_path: Path, openai_stub: OpenAIStub) -> KnowledgeStack:
    """Three films, indexed; the endpoint reads relations."""
    openai_stub.answer = read_by_pattern
    stack = open_stack(home)
    stack.indexer.index([write_films(tmp_path / "files", *FILMS)], "handbook", CALLER)
    return stack


def held(stack: KnowledgeStack, name: str = "handbook") -> dict[str, object]:
    """What was read, by the title of the chunk."""
    read, corpus = relations(stack, stack.corpus(name)), stack.corpus(name)
    return {stack.store.read_chunks(corpus, [chunk_id])[0].title: found for chunk_id, found in read.items()}


def of(film: str, director: str = "marta quist") -> set[tuple[str, str, str]]:
    return {(film.casefold(), "directed by", director)}


def test_every_chunk_is_asked_once_and_the_cost_is_told(stack: KnowledgeStack, openai_stub: OpenAIStub) -> None:
    version = stack.corpus().version
    told: list[tuple[int, int, int]] = []

    def note(now: RelationReport) -> None:
        told.append((now.to_read, now.chunks, now.relations))

    report = indexer_over(stack, openai_stub).read("handbook", CALLER, progress=note)
    assert held(stack) == {film: of(film) for film in FILMS}
    assert (report.to_read, report.chunks, report.relations, report.failed, report.failures) == (3, 3, 3, 0, {})
    assert (report.tokens_in, report.tokens_out) == (33, 21)
    assert (told[0], told[-1]) == ((3, 0, 0), (3, 3, 3))
    assert len(openai_stub.requests) == 3
    assert stack.corpus().version > version, "caches of what was found before are out of date"
    assert stack.store.corpus_summary(stack.corpus()).relations == 3

    again = indexer_over(stack, openai_stub).read("handbook", CALLER)
    assert (again.to_read, again.chunks, len(openai_stub.requests)) == (0, 0, 3)


def test_only_what_changed_is_asked_again(stack: KnowledgeStack, openai_stub: OpenAIStub, tmp_path: Path) -> None:
    indexer_over(stack, openai_stub).read("handbook", CALLER)
    write_films(tmp_path / "files", "Cold Mill", director="Otto Brandt")
    write_films(tmp_path / "files", "East Gate")
    (tmp_path / "files" / "Dry Well.md").unlink()
    stack.indexer.index([tmp_path / "files"], "handbook", CALLER, prune=True)
    assert held(stack) == {"Amber Tide": of("Amber Tide")}, "what was replaced or removed took its relations along"
    del openai_stub.requests[:]
    assert indexer_over(stack, openai_stub).read("handbook", CALLER).relations == 2
    assert len(openai_stub.requests) == 2
    assert held(stack) == {
        "Amber Tide": of("Amber Tide"),
        "Cold Mill": of("Cold Mill", "otto brandt"),
        "East Gate": of("East Gate"),
    }


def test_they_go_with_their_corpus(stack: KnowledgeStack, openai_stub: OpenAIStub) -> None:
    indexer_over(stack, openai_stub).read("handbook", CALLER)
    stack.indexer.delete_corpus("handbook", CALLER)
    with stack.store.file.reading() as connection:
        for table in ("relations", "relation_readings"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (StubReply("I'm sorry, I cannot do that."), "no relations that can be read"),
        (StubReply('{"relations": ['), "no relations that can be read"),
        (StubReply(None), "model_reply_invalid"),
        (StubReply(status=400), "model_reply_invalid"),
        (StubReply(status=500), "model_unavailable"),
        (StubReply(body=b"<html>"), "model_reply_invalid"),
        (StubReply(delay_s=3), "model_timeout"),
    ],
)
def test_a_chunk_that_fails_is_noted_skipped_and_tried_again(
    stack: KnowledgeStack, openai_stub: OpenAIStub, fault: StubReply, reason: str
) -> None:
    openai_stub.answer = None
    openai_stub.reply_with(fault, StubReply('{"relations": []}'))
    report = indexer_over(stack, openai_stub, chat_timeout_s=1).read("handbook", CALLER, calls=1)
    assert (report.chunks, report.failed, report.relations) == (3, 1, 0)
    [(told, chunks)] = report.failures.items()
    assert reason in told
    assert chunks == 1
    assert sorted(map(str, held(stack).values())) == sorted([told, "set()", "set()"])

    openai_stub.answer = read_by_pattern
    again = indexer_over(stack, openai_stub).read("handbook", CALLER)
    assert (again.to_read, again.failed, again.relations) == (1, 0, 1)
    assert reason not in str(held(stack))


def test_an_endpoint_that_is_gone_ends_the_run_and_what_was_read_stays(home: Path, tmp_path: Path) -> None:
    stack = open_stack(home)
    stack.indexer.index([write_films(tmp_path / "files", *(f"Film X{n}" for n in range(30)))], "handbook", CALLER)
    with OpenAIStub() as stub:
        stub.reply_with(*[StubReply('{"relations": []}')] * 5, StubReply(status=503))
        with pytest.raises(ModelUnavailable, match=r"8 failed calls in a row .* run it again"):
            indexer_over(stack, stub).read("handbook", CALLER, calls=1)
        assert len(stub.requests) == 13
    assert list(held(stack).values()).count(set()) == 5
    with OpenAIStub(answer=read_by_pattern) as stub:
        assert indexer_over(stack, stub).read("handbook", CALLER).to_read == 25


def test_no_more_calls_at_a_time_than_allowed(home: Path, tmp_path: Path) -> None:
    lock, now, most = threading.Lock(), 0, 0
    both = threading.Barrier(3)

    def answer(prompt: str) -> str:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        both.wait(20)
        with lock:
            now -= 1
        return read_by_pattern(prompt)

    class Concurrent(OpenAIStub):
        def take(self, request):
            return StubReply(answer(request.last_message))

    stack = open_stack(home)
    stack.indexer.index([write_films(tmp_path / "files", *(f"Film X{n}" for n in range(12)))], "handbook", CALLER)
    with Concurrent() as stub:
        assert indexer_over(stack, stub).read("handbook", CALLER, calls=3).relations == 12
    assert most == 3


@pytest.mark.parametrize("film", ["Cold Mill", "Dry Well"])
def test_what_was_replaced_while_the_model_read_it_is_not_kept(
    stack: KnowledgeStack, openai_stub: OpenAIStub, tmp_path: Path, film: str
) -> None:
    """The last film's successor gets its very row."""

    def replace_then_answer(prompt: str) -> str:
        if f"{film} was" in prompt:
            write_films(tmp_path / "files", film, director="Otto Brandt")
            stack.indexer.index([tmp_path / "files"], "handbook", CALLER)
        return read_by_pattern(prompt)

    openai_stub.answer = replace_then_answer
    indexer_over(stack, openai_stub).read("handbook", CALLER, calls=1)
    assert held(stack).get(film) in (None, of(film, "otto brandt"))
    with stack.store.file.reading() as connection:
        stray = "SELECT * FROM relations WHERE chunk_row NOT IN (SELECT row FROM chunks)"
        assert connection.execute(stray).fetchall() == []
    indexer_over(stack, openai_stub).read("handbook", CALLER)
    assert held(stack)[film] == of(film, "otto brandt")


def test_one_run_at_a_time_and_only_of_ones_own_corpora(stack: KnowledgeStack, openai_stub: OpenAIStub) -> None:
    indexer = indexer_over(stack, openai_stub)
    with FileLock(stack.store.file.path.parent / "relations.lock"), pytest.raises(StoreBusy, match="run it again"):
        indexer.read("handbook", CALLER)
    stack.store.grant("handbook", ["everyone"], CALLER)
    for name in ("handbook", "nowhere"):
        with pytest.raises(CorpusNotFound):
            indexer.read(name, UserContext(user_id="bob"))
    assert openai_stub.requests == []
