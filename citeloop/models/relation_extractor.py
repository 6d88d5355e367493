"""The chat model as a reader of typed relations: one passage a call, so that none can speak for another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig

from citeloop.errors import ModelError
from citeloop.models.chat_caller import ChatCaller
from citeloop.prompts.grounded_answer import render_document
from citeloop.prompts.library import Prompt
from citeloop.text.relation_reply import Triple, read_triples

_MOST_TOKENS = 4000
"""Of a reply: room for the reasoning of a thinking model, and an end to one that repeats itself."""


class ExtractedRelations(NamedTuple):
    """What the model said of one passage, unchecked, and what that cost."""

    triples: list[Triple]
    tokens_in: int = 0
    tokens_out: int = 0
    failure: str = ""
    """Why there is nothing to read, in one line; empty where all went well."""
    is_outage: bool = False
    """Whether it failed for a reason that is not the passage's."""


@dataclass(frozen=True, slots=True)
class RelationExtractor:
    """Asks ``caller``'s model with ``prompt``."""

    caller: ChatCaller
    prompt: Prompt

    async def extract(self, title: str, heading_path: Sequence[str], text: str) -> ExtractedRelations:
        """The relations that the model finds in one passage; the failure of a call is told, never raised."""
        message = HumanMessage(self.prompt.render(document=render_document(1, title, heading_path, text)))
        try:
            reply = await self.caller.call(
                [message], RunnableConfig(), name="relations", prompt=self.prompt.name, max_tokens=_MOST_TOKENS
            )
        except ModelError as error:
            return ExtractedRelations([], failure=f"{error.code}: {error}", is_outage=error.retryable)
        triples = read_triples(reply.text)
        failure = "" if triples is not None else "the model's reply holds no relations that can be read"
        return ExtractedRelations(triples or [], reply.tokens - reply.tokens_out, reply.tokens_out, failure)
