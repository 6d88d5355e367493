"""A chat model that answers from planted facts and errs at set rates; the truth of each sentence is known."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from langchain_core.messages import BaseMessage

from benchmarks.planted_facts import INVENTIONS, Asked, Fact
from citeloop.models.prompt_reading import PromptDocument, read_documents
from citeloop.prompts.refusals import NO_EVIDENCE

Label: TypeAlias = Literal["true", "changed", "invented", "miscited", "uncited"]
"""Of a sentence of a draft: true and rightly cited; with another value than the page has; on no page at all; true, but
cited to a page that does not say it, or to none."""

FALSE: tuple[Label, ...] = ("changed", "invented")


@dataclass(frozen=True, slots=True)
class Rates:
    """How often a sentence goes wrong in each way; ``persistent``: how often it does so again when it is rewritten."""

    changed: float = 0.10
    invented: float = 0.08
    miscited: float = 0.08
    uncited: float = 0.08
    persistent: float = 0.5
    back_reference: float = 0.2
    """How often a sentence begins with "It"."""


class Sentence(NamedTuple):
    """A sentence of a draft, and the truth about it."""

    text: str
    label: Label


@dataclass
class ErringModel:
    """``reply`` is what ``ScriptedChatModel`` wants; ``drafts`` keeps what was said to each question."""

    asked: Sequence[Asked]
    rates: Rates = field(default_factory=Rates)
    seed: int = 3
    drafts: dict[str, list[list[Sentence]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._by_question = {one.question: one for one in self.asked}

    def reply(self, messages: Sequence[BaseMessage]) -> str:
        """A cited draft from the documents of the prompt; the question itself where it is asked for other words."""
        prompt = str(messages[-1].content)
        asked = next((one for question, one in self._by_question.items() if question in prompt), None)
        documents = read_documents(prompt)
        if asked is None or not documents:
            return asked.question if asked else ""
        drafts = self.drafts.setdefault(asked.question, [])
        said = list(self._say(asked, documents, len(drafts)))
        drafts.append([Sentence(text, label) for text, label, _ in said])
        return " ".join(f"{text[:-1]} [{number}]." if number else text for text, _, number in said) or NO_EVIDENCE

    def _say(self, asked: Asked, documents: Sequence[PromptDocument], draft: int) -> Iterator[tuple[str, Label, str]]:
        for position, fact in enumerate(asked.facts):
            page = next((one.label for one in documents if fact.evidence in " ".join(one.text.split())), "")
            if page:
                others = [one.label for one in documents if one.label != page]
                yield from self._say_one(asked.question, position, fact, page, others, draft)

    def _say_one(
        self, question: str, position: int, fact: Fact, page: str, others: Sequence[str], draft: int
    ) -> Iterator[tuple[str, Label, str]]:
        label, rng = self._fault(question, position, draft)
        subject = "It" if position and rng.random() < self.rates.back_reference else f"The {fact.house}"
        said = rng.choice(fact.attribute.said)
        value = fact.value
        if label == "changed":
            value = rng.choice([other for other in fact.attribute.values if other != fact.value])
        number = page
        if label == "miscited":
            label, number = ("miscited", rng.choice(others)) if others else ("true", page)
        if label == "invented":
            yield said.format(s=subject, v=value), "true", page
            yield rng.choice(INVENTIONS).format(s=f"The {fact.house}"), "invented", page
            return
        yield said.format(s=subject, v=value), label, "" if label == "uncited" else number

    def _fault(self, question: str, position: int, draft: int) -> tuple[Label, random.Random]:
        """What goes wrong with the sentence, and the chance that made it: the same again where the fault persists."""
        at = draft
        while at and random.Random(f"{self.seed} {question} {position} {at} again").random() < self.rates.persistent:
            at -= 1
        rng = random.Random(f"{self.seed} {question} {position} {at}")
        shares: Mapping[Label, float] = {
            "changed": self.rates.changed,
            "invented": self.rates.invented,
            "miscited": self.rates.miscited,
            "uncited": self.rates.uncited,
        }
        labels: list[Label] = [*shares, "true"]
        return rng.choices(labels, [*shares.values(), 1 - sum(shares.values())])[0], rng
