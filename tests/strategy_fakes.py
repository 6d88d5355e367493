"""A scripted model that answers about the handbook, for tests of the multi-query strategies."""

import re
from collections.abc import Callable, Sequence

from langchain_core.messages import BaseMessage

from citeloop.testing import ScriptedChatModel
from citeloop.testing.scripted_chat_model import Reply
from tests.multi_query_fakes import join_sub_answers, prompt_of

QUESTION = "How long is parental leave, and what is the limit for hotels a night?"
LEAVE, HOTELS, BADGES = "How long is parental leave?", "What is the limit for hotels a night?", "Who wears a badge?"
BOTH = f"{LEAVE}\n{HOTELS}"

_FACTS = {"leave": "Parental leave lasts 16 weeks", "hotels": "The limit is 140 euros", "badge": "Visitors wear"}


def inside(prompt: str, tag: str) -> str:
    return prompt.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]


def documents_in(prompt: str) -> list[tuple[str, str]]:
    """Label and text of the documents of a prompt."""
    return re.findall(r'<document (?:id|number)="([^"]+)"[^>]*>\n(.*?)\n</document>', prompt, re.DOTALL)


def quote_facts(prompt: str) -> str:
    """The sentences that answer the question of a prompt, from its documents; "not found" where none does."""
    question = inside(prompt, "sub_question") or inside(prompt, "question")
    facts = [fact for word, fact in _FACTS.items() if word in question]
    found = [
        f"{sentence.splitlines()[-1].strip()}. [{label}]"
        for fact in facts
        for label, text in documents_in(prompt)
        for sentence in text.split(".")
        if fact in sentence
    ]
    return " ".join(found) or "not found"


def handbook_model(delay_s: float = 0.0, **replies: Reply | Callable[[str], Reply]) -> ScriptedChatModel:
    """Replies by the prompt it gets: as told, else with what the documents or the sub-answers say."""
    told = {"answer": quote_facts, "sub_answer": quote_facts, "combiner": join_sub_answers, **replies}

    def reply(messages: Sequence[BaseMessage]) -> Reply:
        prompt = messages[-1].text
        scripted = told[prompt_of(prompt)]
        return scripted(prompt) if callable(scripted) else scripted

    return ScriptedChatModel(replies=reply, delay_s=delay_s)


def calls_of(model: ScriptedChatModel, name: str) -> list[str]:
    """The prompts of one kind that the model got."""
    return [messages[-1].text for messages in model.calls if prompt_of(messages[-1].text) == name]
