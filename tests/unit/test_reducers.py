"""The fan-in reducer: pure, idempotent, the same whichever branch ends first."""

from hypothesis import given
from hypothesis import strategies as st

from citeloop.state.reducers import union_by_key

entries = st.dictionaries(st.text(max_size=4), st.integers())


@given(entries, entries)
def test_neither_argument_is_changed(left: dict[str, int], right: dict[str, int]) -> None:
    before = dict(left), dict(right)
    union_by_key(left, right)
    assert (left, right) == before


@given(entries)
def test_writing_the_same_twice_changes_nothing(entry: dict[str, int]) -> None:
    once = union_by_key({}, entry)
    assert union_by_key(once, entry) == once == entry


@given(st.dictionaries(st.text(max_size=4), st.integers(), min_size=2), st.randoms())
def test_the_order_of_branches_does_not_show(merged: dict[str, int], random) -> None:  # type: ignore[no-untyped-def]
    branches = [{key: value} for key, value in merged.items()]
    random.shuffle(branches)
    result: dict[str, int] = {}
    for branch in branches:
        result = union_by_key(result, branch)
    assert list(result.items()) == sorted(merged.items())


def test_a_missing_side_is_empty() -> None:
    assert union_by_key(None, {"a": 1}) == {"a": 1}
    assert union_by_key({"a": 1}, None) == {"a": 1}
