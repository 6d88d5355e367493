"""The memo: one computation a text, bounded, and nobody's to change."""

import os
import signal
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import numpy as np
import pytest

from citeloop.models.embedder import Vectors
from citeloop.models.memoized_embedder import MemoizedEmbedder


class CountingEmbedder:
    """Maps a text to the vector (its length, 1); keeps what it was asked; may wait, and may fail."""

    model_id = "counting"
    dimension = 2

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.go_on = Event()
        self.go_on.set()
        self.failure: Exception | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(list(texts))
        self.go_on.wait()
        if self.failure:
            raise self.failure
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)


@pytest.fixture
def inner() -> CountingEmbedder:
    return CountingEmbedder()


def wait_for_requests(memo: MemoizedEmbedder, number: int) -> None:
    """Return when so many texts were asked for; they may still be waited for."""
    deadline = time.monotonic() + 30
    while sum(memo.cache_info()[:2]) < number:
        assert time.monotonic() < deadline, memo.cache_info()
        time.sleep(0.001)


def test_known_texts_are_not_computed_again_and_order_is_kept(inner: CountingEmbedder) -> None:
    memo = MemoizedEmbedder(inner)
    memo.embed(["aa", "b"])
    vectors = memo.embed(["b", "cccc", "aa", "cccc"])
    assert vectors[:, 0].tolist() == [1, 4, 2, 4]
    assert inner.asked == [["aa", "b"], ["cccc"]]
    assert memo.cache_info()[:2] == (3, 3)


def test_identity_is_the_inner_embedders(inner: CountingEmbedder) -> None:
    memo = MemoizedEmbedder(inner)
    assert (memo.model_id, memo.dimension) == ("counting", 2)
    assert memo.embed([]).shape == (0, 2)
    assert inner.asked == []


def test_least_recently_used_text_is_dropped(inner: CountingEmbedder) -> None:
    memo = MemoizedEmbedder(inner, max_texts=2)
    memo.embed(["a", "bb"])
    memo.embed(["a"])
    memo.embed(["ccc"])
    memo.embed(["a", "ccc"])
    assert inner.asked == [["a", "bb"], ["ccc"]]
    memo.embed(["bb"])
    assert inner.asked[-1] == ["bb"]
    assert memo.cache_info().currsize == 2


def test_more_texts_than_fit_are_still_all_answered(inner: CountingEmbedder) -> None:
    memo = MemoizedEmbedder(inner, max_texts=1)
    assert memo.embed(["a", "bb", "ccc"])[:, 0].tolist() == [1, 2, 3]
    assert memo.cache_info().currsize == 1


def test_primed_texts_are_known(inner: CountingEmbedder) -> None:
    memo = MemoizedEmbedder(inner)
    memo.prime(["x", "y"], np.array([[7, 0], [8, 0]], dtype=np.float32))
    assert memo.embed(["y", "x"])[:, 0].tolist() == [8, 7]
    assert inner.asked == []
    with pytest.raises(ValueError):
        memo.prime(["x"], np.zeros((2, 2), dtype=np.float32))


def test_callers_cannot_change_what_is_remembered(inner: CountingEmbedder) -> None:
    memo = MemoizedEmbedder(inner)
    given = np.array([[7, 0]], dtype=np.float32)
    memo.prime(["x"], given)
    given[:] = -1
    for texts in (["x"], ["new"], ["x", "new"]):
        memo.embed(texts)[:] = -1
    assert memo.embed(["x", "new"])[:, 0].tolist() == [7, 3]


def test_concurrent_requests_share_one_computation(inner: CountingEmbedder) -> None:
    memo = MemoizedEmbedder(inner)
    inner.go_on.clear()
    with ThreadPoolExecutor(16) as pool:
        asked = [pool.submit(memo.embed, ["query"]) for _ in range(16)]
        wait_for_requests(memo, 16)  # none is answered yet: fifteen share what one computes
        inner.go_on.set()
        assert [future.result()[:, 0].tolist() for future in asked] == [[5.0]] * 16
    assert inner.asked == [["query"]]
    assert memo.cache_info()[:2] == (15, 1)


def test_failure_reaches_those_who_wait_and_is_not_remembered(inner: CountingEmbedder) -> None:
    memo = MemoizedEmbedder(inner)
    inner.go_on.clear()
    inner.failure = RuntimeError("no memory")
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(memo.embed, ["query"]) for _ in range(2)]
        wait_for_requests(memo, 2)
        inner.go_on.set()
        assert [type(future.exception()) for future in asked] == [RuntimeError, RuntimeError]
    inner.failure = None
    assert memo.embed(["query"]).tolist() == [[5, 1]]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("held", ["lock", "computation"])
def test_a_child_forked_while_another_thread_is_at_work_does_not_hang(inner: CountingEmbedder, held: str) -> None:
    memo = MemoizedEmbedder(inner)
    inner.go_on.clear()
    thread = Thread(target=memo.embed, args=(["query"],))
    thread.start()
    wait_for_requests(memo, 1)
    if held == "lock":
        memo._lock.acquire()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a hang ends here
        inner.go_on = Event()  # the parent's may be locked as well
        inner.go_on.set()
        os._exit(0 if memo.embed(["query"]).tolist() == [[5, 1]] else 1)
    if held == "lock":
        memo._lock.release()
    inner.go_on.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
