"""The chat model as the judge of claims, over a real OpenAI-compatible server."""

from pathlib import Path

import pytest

from citeloop.engine import open_engine
from citeloop.errors import InvalidRequest
from citeloop.settings import Settings
from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import Passage
from citeloop.state.models import RAGResponse
from citeloop.verification.answer_text.citations import parse_citations
from citeloop.verification.answer_text.claims import split_claims
from citeloop.verification.draft_watch import SentenceVerifier
from tests.openai_stub import OpenAIStub, StubReply

QUESTION = "How long is parental leave?"
VERDICT = '{"verdicts": [{"claim": 1, "support": 0.97}]}'
DRAFT = StubReply("Parents get a leave of 16 weeks with full pay. [1]")


def ask(stores: Path, stub: OpenAIStub, *judged: StubReply) -> RAGResponse:
    stub.reply_with(DRAFT, *judged)
    settings = Settings(openai_base_url=stub.base_url, chat_max_retries=0, support_judge="model")
    engine = open_engine(stores, settings=settings)
    try:
        return engine.query(QUESTION, access_reason="test", strategy="simple")
    finally:
        engine.close()


def methods(response: RAGResponse) -> dict[str, int]:
    return dict(response.trace["rounds"][0]["support_methods"])


def test_its_verdict_is_the_support(stores: Path, openai_stub: OpenAIStub) -> None:
    openai_stub.answer = lambda asked: VERDICT if "<claim " in asked else DRAFT.content or ""
    response = ask(stores, openai_stub)
    assert [claim.support for claim in response.claims] == [0.97]
    assert methods(response) == {"judge": 1}
    judged = [request for request in openai_stub.requests if "<claim " in request.last_message]
    assert len(judged) == len(response.trace["rounds"]), "one call a draft"
    assert all("Parents get a leave" in request.last_message for request in judged)


@pytest.mark.parametrize("bad", [StubReply("It is all fine."), StubReply("", status=500)])
def test_where_it_fails_the_offline_score_decides_and_the_trace_tells(
    stores: Path, openai_stub: OpenAIStub, bad: StubReply
) -> None:
    response = ask(stores, openai_stub, bad, DRAFT, bad, DRAFT, bad)
    (method,) = methods(response)
    assert method.startswith("model, no judge (model_")
    assert "\n" not in method


def test_sentences_of_a_draft_that_is_still_written_are_not_sent(stores: Path, openai_stub: OpenAIStub) -> None:
    settings = Settings(openai_base_url=openai_stub.base_url, support_judge="model")
    verifier = open_engine(stores, settings=settings)._parts.verifier
    assert isinstance(verifier, SentenceVerifier)
    sentences = split_claims(parse_citations(DRAFT.content or "", {"1": 1}))
    passage = Passage(number=1, chunk_id="c", title="", heading_path=[], text="The canteen opens at noon.")  # type: ignore[typeddict-item]
    (told,) = verifier.check_sentences(sentences, [passage], RAGConfig())
    assert told.citation_ids == (1,)
    assert openai_stub.requests == []


def test_without_a_chat_model_it_is_refused_when_the_engine_is_opened(stores: Path) -> None:
    with pytest.raises(InvalidRequest, match="CITELOOP_SUPPORT_JUDGE"):
        open_engine(stores, settings=Settings(support_judge="model"))
