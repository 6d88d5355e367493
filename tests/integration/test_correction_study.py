"""The correction study over a few questions: fails where the loop or strict breaks."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.correction_study import Returned, run
from benchmarks.planted_errors import FALSE, Rates

OFTEN_WRONG = Rates(changed=0.15, invented=0.15, miscited=0.1, uncited=0.1)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Returned]]:
    home: Path = tmp_path_factory.mktemp("study")
    return run(home, questions=8, houses=8, rates=OFTEN_WRONG, seed=5)


def told(results: Sequence[Returned], *labels: str) -> int:
    """How many returned sentences have one of ``labels``."""
    return sum(result.draft[number].label in labels for result in results for number in result.verdicts)


def test_strict_returns_no_false_claim_and_most_of_the_true_ones(results: dict[str, list[Returned]]) -> None:
    assert told(results["unchecked"], *FALSE) > 0
    assert told(results["strict"], *FALSE, "miscited", "uncited") == 0
    assert told(results["strict"], "true") >= 0.7 * told(results["unchecked"], "true")


def test_the_loop_leaves_fewer_faults_and_marks_those_that_stay(results: dict[str, list[Returned]]) -> None:
    faults = (*FALSE, "miscited", "uncited")
    assert told(results["loop on"], *faults) < told(results["loop off"], *faults)
    for result in results["loop on"]:
        for number, verdict in result.verdicts.items():
            assert verdict != "supported" or result.draft[number].label == "true"


def test_rounds_are_bounded_and_bring_true_claims_back(results: dict[str, list[Returned]]) -> None:
    assert all(result.rounds == 0 for result in results["strict, loop off"])
    assert 0 < max(result.rounds for result in results["strict"]) <= 2
    assert told(results["strict"], "true") >= told(results["strict, loop off"], "true")
