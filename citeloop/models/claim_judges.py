"""Judges of claims against passages: an NLI cross-encoder, and the chat model."""

import threading
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.constants import TAG_NOSTREAM

from citeloop.errors import ModelReplyInvalid, WeightsNotFound
from citeloop.models.chat import translate_model_error
from citeloop.models.cross_encoder import is_at_hand, load_cross_encoder
from citeloop.prompts.grounded_answer import render_document
from citeloop.prompts.library import Prompt
from citeloop.text.reply_json import json_values
from citeloop.text.sentences import split_sentences
from citeloop.text.thinking import strip_thinking
from citeloop.text.words import content_stems

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

_CONTRADICTED_FROM = 0.5
"""Probability of contradiction from which it is more likely than all else."""

_MOST_PIECES = 512
"""Word pieces of premise and claim, where a model tells no smaller limit: what NLI models are trained on."""

_MOST_TOKENS = 4000
"""Of a reply, as where relations are read."""


class JudgedClaim(NamedTuple):
    """A claim, and the passages that should say it together."""

    claim: str
    passages: tuple[str, ...]
    context: str = ""
    """Titles and headings of the passages."""


class Judgement(NamedTuple):
    """What a judge says of one claim."""

    support: float
    """Probability, in [0, 1], that the passages say it."""
    is_contradicted: bool = False


class ClaimJudge(Protocol):
    """Judges the claims of a draft in one batch. Blocking; thread-safe."""

    name: Literal["nli", "judge"]

    def judge(self, claims: Sequence[JudgedClaim]) -> list[Judgement | None]:
        """One judgement a claim, in order; None of a claim that was left out. May raise anything."""


class NliJudge:
    """A cross-encoder that was trained on natural language inference, loaded here.

    Raises ``WeightsNotFound`` where library or model are not on this machine, or the model is no NLI model.
    """

    name: Literal["nli", "judge"] = "nli"

    def __init__(self, model_name: str, *, downloads: bool = False) -> None:
        if not (downloads or is_at_hand(model_name)):
            raise WeightsNotFound(
                f"the NLI model {model_name} is not on this machine; pip install 'citeloop[torch]', and name a folder "
                "that holds it in CITELOOP_NLI_MODEL, or set CITELOOP_MODEL_DOWNLOADS=true"
            )
        try:
            self._model: CrossEncoder = load_cross_encoder(model_name, "NLI model", downloads=downloads)
        except ImportError:
            raise WeightsNotFound("an NLI model needs sentence-transformers: pip install 'citeloop[torch]'") from None
        labels = {str(label).lower(): int(row) for row, label in self._model.model.config.id2label.items()}
        if not {"entailment", "contradiction"} <= labels.keys():
            raise WeightsNotFound(f"{model_name} is no NLI model: its labels are {', '.join(labels)}")
        self._entailment, self._contradiction = labels["entailment"], labels["contradiction"]
        self._lock = threading.Lock()

    def judge(self, claims: Sequence[JudgedClaim]) -> list[Judgement | None]:
        """Entailment and contradiction of each claim by the sentences nearest to it that the model can read at once."""
        import torch

        with self._lock:  # one at a time, as for reranking
            pairs = [(self._premise(claim), claim.claim) for claim in claims]
            rows = self._model.predict(pairs, activation_fn=torch.nn.Softmax(dim=-1), show_progress_bar=False)
        return [
            Judgement(float(row[self._entailment]), bool(row[self._contradiction] > _CONTRADICTED_FROM))
            for row in np.asarray(rows, dtype=np.float64)
        ]

    def _premise(self, claim: JudgedClaim) -> str:
        """The sentences that share most words with the claim, as many as fit, in their order."""
        limit = getattr(self._model, "max_seq_length", None) or self._model.tokenizer.model_max_length
        room = min(limit, _MOST_PIECES) - self._tokens(claim.claim) - 4  # marks of the model between and around the two
        sentences = [text[start:end] for text in claim.passages for start, end in split_sentences(text)]
        wanted = set(content_stems(claim.claim))
        nearness = [len(wanted & set(content_stems(sentence))) for sentence in sentences]
        taken: list[int] = []
        for at in sorted(range(len(sentences)), key=lambda at: -nearness[at]):
            room -= self._tokens(sentences[at])
            if taken and room < 0:
                break
            taken.append(at)
        return " ".join(sentences[at] for at in sorted(taken))

    def _tokens(self, text: str) -> int:
        return len(self._model.tokenizer.encode(text, add_special_tokens=False))


class ChatJudge:
    """The chat model, asked once a batch with ``prompt``; its synchronous face is used, in the caller's thread."""

    name: Literal["nli", "judge"] = "judge"

    def __init__(self, llm: BaseChatModel, prompt: Prompt) -> None:
        self._llm, self._prompt = llm, prompt

    def judge(self, claims: Sequence[JudgedClaim]) -> list[Judgement | None]:
        """Raises ``ModelError`` where the call fails or nothing in the reply can be read."""
        call = RunnableConfig(
            run_name="judge_support",
            tags=[TAG_NOSTREAM, "citeloop:judge_support"],
            metadata={"prompt": self._prompt.name},
        )
        try:
            reply = self._llm.invoke([HumanMessage(self._render(claims))], call, max_tokens=_MOST_TOKENS)
        except Exception as error:
            raise translate_model_error(error, self._llm) from None  # the provider's own words may quote the key
        found = _read_judgements(strip_thinking(reply.text))
        if not found:
            raise ModelReplyInvalid("the model's reply holds no verdicts that can be read")
        return [found.get(number) for number in range(1, len(claims) + 1)]

    def _render(self, claims: Sequence[JudgedClaim]) -> str:
        texts = list(dict.fromkeys(text for claim in claims for text in claim.passages))
        numbers = {text: number for number, text in enumerate(texts, start=1)}
        asked = [
            f'<claim number="{number}" documents="{" ".join(str(numbers[text]) for text in claim.passages)}" '
            f'headings="{escape(claim.context)}">\n{escape(claim.claim)}\n</claim>'
            for number, claim in enumerate(claims, start=1)
        ]
        documents = [render_document(number, "", (), text) for text, number in numbers.items()]
        return self._prompt.render(documents="\n".join(documents), claims="\n".join(asked))


def _read_judgements(reply: str) -> dict[int, Judgement]:
    """By the number of the claim; of two on the same claim, the worse. Entries that cannot be read are left out."""
    found: dict[int, Judgement] = {}
    for entry in _entries(reply):
        number, support, contradicted = (entry.get(key) for key in ("claim", "support", "contradicted"))
        if isinstance(support, bool) or not isinstance(support, int | float) or not 0 <= support <= 1:
            continue
        if type(number) is not int:
            continue
        judgement = Judgement(float(support), contradicted is True)
        found[number] = min(found.get(number, judgement), judgement)
    return found


def _entries(reply: str) -> Iterator[dict[str, Any]]:
    for value in json_values(reply):
        entries = value.get("verdicts") if isinstance(value, dict) else value
        yield from (entry for entry in entries if isinstance(entry, dict)) if isinstance(entries, list) else ()
