"""The worker pool: the loop stays free, waits can be cancelled, and a forked child has threads of its own."""

import asyncio
import contextvars
import multiprocessing
import threading

import pytest

from citeloop.errors import UsageError
from citeloop.workers import WorkerPool

caller: contextvars.ContextVar[str] = contextvars.ContextVar("caller", default="nobody")


@pytest.fixture
def pool():
    with_threads = WorkerPool(2)
    yield with_threads
    with_threads.close()


async def test_runs_in_a_thread_under_the_callers_context(pool: WorkerPool) -> None:
    caller.set("ada")
    name, thread = await pool.run(lambda: (caller.get(), threading.current_thread()))
    assert name == "ada"
    assert thread is not threading.current_thread()
    assert await pool.run(divmod, 7, 2) == (3, 1)
    assert await pool.run(sorted, [1, 2], reverse=True) == [2, 1]


async def test_errors_reach_the_caller(pool: WorkerPool) -> None:
    with pytest.raises(ZeroDivisionError):
        await pool.run(divmod, 1, 0)


async def test_the_loop_goes_on_while_workers_are_busy(pool: WorkerPool) -> None:
    go_on = threading.Event()
    waiting = [asyncio.create_task(pool.run(go_on.wait, 60)) for _ in range(2)]
    await asyncio.sleep(0)
    go_on.set()  # reached only by a loop that is free
    assert await asyncio.gather(*waiting) == [True, True]


async def test_work_that_hangs_does_not_hold_up_what_comes_after(pool: WorkerPool) -> None:
    go_on = threading.Event()
    for _ in range(5):  # more than there are threads
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await pool.run(go_on.wait, 60)
        assert await asyncio.wait_for(pool.run(divmod, 7, 2), 10) == (3, 1)
    go_on.set()


async def test_a_stop_iteration_is_an_error_like_others(pool: WorkerPool) -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        await asyncio.wait_for(pool.run(next, iter([])), 10)


async def test_a_cancelled_wait_returns_and_drops_what_has_not_begun(pool: WorkerPool) -> None:
    go_on, began = threading.Event(), []
    busy = [asyncio.create_task(pool.run(go_on.wait, 10)) for _ in range(2)]
    await asyncio.sleep(0)
    queued = asyncio.create_task(pool.run(began.append, "queued"))
    await asyncio.sleep(0)
    for task in (queued, busy[0]):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert not go_on.is_set()
    go_on.set()
    assert await busy[1]
    assert await pool.run(lambda: began) == []


def test_serves_several_event_loops(pool: WorkerPool) -> None:
    assert [asyncio.run(pool.run(abs, -number)) for number in range(3)] == [0, 1, 2]


def test_a_closed_pool_says_so(pool: WorkerPool) -> None:
    pool.close()
    pool.close()
    with pytest.raises(UsageError):
        asyncio.run(pool.run(abs, 1))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system")
def test_works_after_a_fork(pool: WorkerPool) -> None:
    asyncio.run(pool.run(abs, 1))
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=lambda: sender.send(asyncio.run(pool.run(abs, -5))))
    child.start()
    try:
        assert receiver.poll(60), "the child hangs"
        assert receiver.recv() == 5
    finally:
        child.kill()
        child.join()
