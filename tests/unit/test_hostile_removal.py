"""Strict over hostile text: no crash, and what is left is supported."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.test_claim_policy import TRUE, verify

HOSTILE = st.text(alphabet="ab .:[]12|-*#>`\n(){}\"'“”…。！\u2028\r\t0123.)", max_size=120)


@settings(max_examples=150, deadline=None)
@given(before=HOSTILE, after=HOSTILE)
def test_whatever_stands_around_it(before: str, after: str) -> None:
    verdict = verify(f"{before}\n\n{TRUE}\n\n{after}", "strict")
    assert verdict["refused"] or all(claim["verdict"] in ("supported", "not_a_claim") for claim in verdict["claims"])
    for claim in verdict.get("claims", ()):
        start, end = claim["span_in_response"]
        assert 0 <= start <= end <= len(verdict["answer"])
