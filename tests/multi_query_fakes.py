"""A scripted model and documents for tests of the multi-query graphs."""

import re
from collections.abc import Callable
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from citeloop import (
    RagFusionConfig,
    StepBackConfig,
    SubQuestionsConfig,
    build_rag_fusion_graph,
    build_step_back_graph,
    build_sub_questions_graph,
)
from citeloop.graph.configured_graph import ConfiguredGraph
from citeloop.testing import KeyedRetriever, ScriptedChatModel
from citeloop.testing.scripted_chat_model import Reply

QUESTION = "How much is the fee?"

_OPENINGS = {
    "query_rewriter": "You write search queries",
    "decomposer": "Break the question",
    "sub_answer": "Answer the sub-question",
    "combiner": "Answer the original question",
    "follow_up": "You decide what to search for next",
    "step_back": "You are an expert at stepping back",
    "standalone_question": "You make questions standalone",
    "query_analyzer": "You classify questions",
    "partial_answer": "Note what the numbered documents",
    "partial_answers_combiner": "Combine the notes",
    "answer": "Answer the question",
}


def documents(*ids: str) -> list[Document]:
    return [Document(id=name, page_content=f"The fee of {name} is 12 euros.") for name in ids]


def prompt_of(text: str) -> str:
    """Which of the specified prompts ``text`` is."""
    return next(name for name, opening in _OPENINGS.items() if text.startswith(opening))


def quote_first_document(prompt: str) -> str:
    """An answer that quotes the first document of a prompt."""
    found = re.search(r'<document id="([^"]+)"[^>]*>\n(.*)\n', prompt)
    assert found is not None, "the model was asked without documents"
    return f"{found[2]} [{found[1]}]"


def join_sub_answers(prompt: str) -> str:
    """What a combiner makes of its prompt: every answer found, and a word on those that were not."""
    pairs = re.findall(r"<sub_question>(.*)</sub_question>\n<sub_answer>(.*)</sub_answer>", prompt)
    return "\n".join(
        f"The documents do not answer: {question}" if answer == "not found" else answer for question, answer in pairs
    )


def scripted(delay_s: float = 0.0, **replies: Reply | Callable[[str], Reply]) -> ScriptedChatModel:
    """A model that replies by the prompt it gets; what is not told quotes or joins."""
    answer = reply_by_prompt(**replies)
    return ScriptedChatModel(replies=lambda messages: answer(messages[-1].text), delay_s=delay_s)


def reply_by_prompt(**replies: Reply | Callable[[str], Reply]) -> Callable[[str], Reply]:
    """What such a model replies to the text of a prompt."""
    told: dict[str, Reply | Callable[[str], Reply]] = {
        "sub_answer": quote_first_document,
        "answer": quote_first_document,
        "combiner": join_sub_answers,
        **replies,
    }

    def reply(text: str) -> Reply:
        scripted_reply = told[prompt_of(text)]
        return scripted_reply(text) if callable(scripted_reply) else scripted_reply

    return reply


def calls_of(model: ScriptedChatModel, name: str) -> list[str]:
    """The prompts of one kind that the model got."""
    return [prompt for prompt in model.prompts if prompt_of(prompt) == name]


QUERIES = ["part one?", "part two?", "part three?"]
SCRIPT = {"query_rewriter": "\n".join(QUERIES), "decomposer": "\n".join(QUERIES), "step_back": QUERIES[0]}
FOUND = {query: documents(f"D{number}") for number, query in enumerate([*QUERIES, QUESTION])}
BUILDERS: dict[str, tuple[Callable[..., ConfiguredGraph[Any]], type[Any]]] = {
    "rag_fusion": (build_rag_fusion_graph, RagFusionConfig),
    "sub_questions": (build_sub_questions_graph, SubQuestionsConfig),
    "step_back": (build_step_back_graph, StepBackConfig),
}


def build(
    name: str, retriever: BaseRetriever | None = None, checkpointer: Any = None, **settings: Any
) -> ConfiguredGraph[Any]:
    builder, config = BUILDERS[name]
    return builder(
        llm=scripted(**SCRIPT),
        retriever=retriever or KeyedRetriever(results=FOUND),
        config=config(**settings),
        checkpointer=checkpointer,
    )
