"""Why a branch dropped out, as it is kept: no secret, and no run that was cancelled taken for a failure."""

import asyncio

import pytest

from citeloop.branch_failure import BRANCH_ENDS, branch_failure, without_secrets


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "https://user:pw@search.example.org/v1?api_key=sk-0123456789abcdef#x is down",
            "https://search.example.org/v1 is down",
        ),
        ("bad key sk-0123456789abcdef", "bad ***"),
        ("Bearer abcdefghijklmnop refused", "*** refused"),
        ("see http://example.org/a, or ask", "see http://example.org/a, or ask"),
        ("the key of the house", "the key of the house"),
    ],
)
def test_addresses_and_keys_lose_what_is_secret(text: str, kept: str) -> None:
    assert without_secrets(text) == kept


async def test_a_time_limit_is_told_with_its_seconds_and_an_error_in_its_own_words() -> None:
    assert branch_failure(TimeoutError(), 0.5) == "TimeoutError: no result within 0.5 s"
    assert branch_failure(TimeoutError("the index took too long"), 0.5) == "TimeoutError: the index took too long"
    assert branch_failure(ConnectionError("down"), 0.5) == "ConnectionError: down"


async def test_a_branch_that_cancels_itself_dropped_out() -> None:
    try:
        raise asyncio.CancelledError("of its own")
    except BRANCH_ENDS as error:
        assert branch_failure(error, 1) == "CancelledError: of its own"


async def test_a_run_that_is_cancelled_is_not_kept_alive() -> None:
    async def branch() -> str:
        try:
            await asyncio.sleep(60)
        except BRANCH_ENDS as error:
            return branch_failure(error, 1)
        return "done"

    task = asyncio.create_task(branch())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
