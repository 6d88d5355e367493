"""What becomes of an answer under each policy: annotated, cut down to what is supported, or not checked at all."""

from typing import Any

import pytest

from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER
from citeloop.state.config import ClaimPolicy, RAGConfig
from citeloop.state.graph_state import Verdict
from citeloop.state.models import AnswerClaim
from citeloop.verification.claim_removal import Removal
from citeloop.verification.refusal import status_of
from citeloop.verification.response import policy_trace
from citeloop.verification.verifier import Verifier
from tests.unit.test_confidence import LEAVE, TRAVEL, OrthogonalEmbedder, RecordingJudge, passage

TRUE = "Employees receive 25 days of paid leave. [1]"
ALSO_TRUE = "Trains are preferred over planes. [2]"
INVENTED = "Dogs are welcome in every office. [1]"
MISCITED = "Unused leave expires in March. [2]"
UNCITED = "Unused leave expires in March."


def verify(draft: str, policy: ClaimPolicy, least: ClaimPolicy = "off", **settings: Any) -> Verdict:
    verifier = Verifier(OrthogonalEmbedder(), RecordingJudge(), RAGConfig(claim_policy=least))
    config = RAGConfig(claim_policy=policy, **settings)
    return verifier.verify("How much leave is there?", draft, [passage(1, LEAVE), passage(2, TRAVEL)], config)


def verdicts(verdict: Verdict, key: str = "claims") -> list[str]:
    return [claim["verdict"] for claim in verdict[key]]  # type: ignore[literal-required]


@pytest.mark.parametrize("bad", [INVENTED, MISCITED, UNCITED])
def test_annotate_marks_and_strict_takes_out(bad: str) -> None:
    draft = f"{TRUE} {bad} {ALSO_TRUE}"
    annotated = verify(draft, "annotate")
    assert annotated["answer"] == draft
    assert verdicts(annotated) == ["supported", "unsupported", "supported"]
    assert "removed" not in annotated
    cut = verify(draft, "strict")
    assert cut["answer"] == f"{TRUE} {ALSO_TRUE}"
    assert verdicts(cut) == ["supported", "supported"]
    assert cut["removed"][0]["text"] == bad.split(" [")[0]
    assert verdicts(cut, "removed") == ["unsupported"]


def test_what_is_left_is_checked_as_it_stands() -> None:
    cut = verify(f"{INVENTED} {TRUE} {ALSO_TRUE}", "strict")
    assert cut["passed"] and status_of(cut) == "answered"
    assert cut["confidence"] == pytest.approx(0.98, abs=0.01)
    for told in (*cut["claims"], *cut["citations"]):
        start, end = told["span_in_response"]
        assert cut["answer"][start:end] == told.get("claim_text", told.get("text"))
    assert [citation["citation_id"] for citation in cut["citations"]] == [1, 2]


def test_the_loop_still_learns_what_was_wrong_with_the_draft() -> None:
    cut = verify(f"{TRUE} {MISCITED}", "strict")
    assert cut["invalid_chunk_ids"] == ["chunk-2"]
    assert cut["invalid_share"] == 0.5
    assert "taken out" in cut["note"]


def test_with_nothing_left_the_answer_is_refused_and_says_what_was_taken_out() -> None:
    for draft in (INVENTED, f"Here is an overview:\n\n- {INVENTED}\n- {UNCITED}", "Sure. I hope this helps!"):
        refused = verify(draft, "strict")
        assert refused["answer"] == INDEX_HAS_NO_ANSWER
        assert status_of(refused) == "no_evidence"
        assert refused["claims"] == [] if "claims" in refused else True
        assert refused["citations"] == []
    assert len(verify(f"{INVENTED} {UNCITED}", "strict")["removed"]) == 2


def test_a_refusal_is_no_claim_under_any_policy() -> None:
    for policy in ("strict", "annotate", "off"):
        verdict = verify("No evidence found.", policy)  # type: ignore[arg-type]
        assert verdict["refused"] and not verdict.get("removed")


def test_a_claim_without_as_many_valid_citations_as_it_needs_is_taken_out() -> None:
    draft = f"{TRUE} Employees receive 25 days of paid leave. [1][2]"
    assert verify(draft, "strict")["answer"] == draft
    assert verify(draft, "strict", min_citations_per_claim=2)["refused"]
    assert "partly" in verdicts(verify(draft, "strict", min_citations_per_claim=2), "removed")


def test_off_checks_nothing_and_says_so() -> None:
    draft = f"{TRUE} {INVENTED} Trains run [9]."
    verdict = verify(draft, "off")
    assert verdict["answer"] == f"{TRUE} {INVENTED} Trains run."
    assert status_of(verdict) == "unchecked"
    assert verdict["unchecked"] and not verdict["passed"]
    assert (verdict["claims"], verdict["confidence"]) == ([], 0.0)
    assert [citation["citation_id"] for citation in verdict["citations"]] == [1, 1]
    assert policy_trace(verdict, tells_text=True) == {"checks": "off"}


def test_no_run_gets_a_weaker_policy_than_the_verifier_holds_to() -> None:
    draft = f"{TRUE} {INVENTED}"
    assert verdicts(verify(draft, "off", least="annotate")) == ["supported", "unsupported"]
    assert verify(draft, "annotate", least="strict")["answer"] == TRUE
    assert verify(draft, "strict", least="annotate")["answer"] == TRUE
    loose = {"similarity_threshold": 0, "require_citations": False}
    assert verify(draft, "annotate", least="strict", **loose)["answer"] == TRUE


def test_a_draft_of_which_ever_more_falls_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    first = verify(f"{TRUE} {INVENTED}", "strict")["removed"]
    removal = Removal(text=TRUE, claims=[AnswerClaim.model_validate(claim) for claim in first])
    monkeypatch.setattr("citeloop.verification.verifier.without_unsupported", lambda *_: removal)
    assert verify(f"{TRUE} {INVENTED}", "strict")["refused"]


def test_the_trace_tells_text_only_where_steps_are_shown() -> None:
    verdict = verify(f"{TRUE} {INVENTED}", "strict")
    (told,) = policy_trace(verdict, tells_text=True)["removed"]
    assert told["text"] == "Dogs are welcome in every office." and told["reason"]
    assert policy_trace(verdict, tells_text=False) == {"removed": [{"verdict": "unsupported"}]}


@pytest.mark.parametrize("policy", ["off", "annotate", "strict"])
@pytest.mark.parametrize(
    "draft", ["[1][2]", "Sources:\n[1] Leave", "Sources disagree on “leave of … days”: 25 [1], 30 [2]."]
)
def test_a_draft_that_says_nothing_is_refused_and_never_leaves_empty(draft: str, policy: ClaimPolicy) -> None:
    verdict = verify(draft, policy)
    assert (verdict["answer"], status_of(verdict)) == (INDEX_HAS_NO_ANSWER, "no_evidence")
    assert verdict["note"] == "the draft holds no answer"
