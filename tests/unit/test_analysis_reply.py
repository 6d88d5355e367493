"""What a chat model replies when it is asked to analyze, and what is done where that cannot be read."""

import pytest

from citeloop.models.chat_caller import ChatCaller
from citeloop.nodes.analyze_query import analyze_query
from citeloop.prompts.library import load_prompt
from citeloop.retrieval.analysis_reply import read_analysis
from citeloop.retrieval.analyzer import QueryAnalyzer
from citeloop.state.models import QueryIntent
from citeloop.testing import ScriptedChatModel
from citeloop.testing.scripted_chat_model import Reply
from tests.unit.graph_fakes import InlineWorkers, request, runtime, turn

WHOLE = '{"intent": "Comparative", "complexity": 0.4, "multi_part": true, "note": "x"}'


@pytest.mark.parametrize("reply", [WHOLE, f"Here it is:\n```json\n{WHOLE}\n```", f"{WHOLE} {{"])
def test_an_object_is_read_wherever_it_stands(reply: str) -> None:
    analysis = read_analysis(reply)
    assert analysis is not None
    assert (analysis.intent, analysis.estimated_complexity) == (QueryIntent.COMPARATIVE, 0.4)
    assert (analysis.multi_part, analysis.small_talk) == (True, False)


@pytest.mark.parametrize(
    "reply",
    [
        *("", "no.", "null", "{", "[1]", "{}", "{" * 5000, '{"a":' * 5000),
        '{"intent": "odd", "complexity": 0.1}',
        '{"intent": "factual", "complexity": 7}',
        '{"intent": "factual", "complexity": NaN}',
    ],
)
def test_anything_else_is_none(reply: str) -> None:
    assert read_analysis(reply) is None


async def analyzed(reply: Reply, **settings: object) -> tuple[dict[str, object], int]:
    model = ScriptedChatModel(replies=[reply])
    update = await analyze_query(
        turn(request=request("When was the lamp changed?")),
        runtime(**settings),
        {},
        analyzer=QueryAnalyzer(),
        caller=ChatCaller(model, InlineWorkers()),  # type: ignore[arg-type]
        prompt=load_prompt("query_analyzer"),
        workers=InlineWorkers(),  # type: ignore[arg-type]
    )
    return dict(update["analysis"]), len(model.calls)


async def test_the_model_is_asked_only_where_the_settings_say_so() -> None:
    told, calls = await analyzed(WHOLE)
    assert (told["intent"], calls) == ("factual", 0)
    told, calls = await analyzed(WHOLE, analyzer="model", routes={"multi_part": "sub_questions"})
    assert (told["intent"], told["strategy"], calls) == ("comparative", "sub_questions", 1)
    assert told["reason"] == "the chat model: comparative; complexity 0.40: sub_questions by routes[multi_part]"


@pytest.mark.parametrize("reply", ["no.", "", TimeoutError(), "No evidence found"])
async def test_any_fault_falls_back_offline(reply: Reply) -> None:
    told, calls = await analyzed(reply, analyzer="model")
    assert (told["intent"], told["strategy"], calls) == ("factual", "simple", 1)
