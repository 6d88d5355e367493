"""The analysis in a chat model's reply."""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from citeloop.state.models import QueryAnalysis, QueryIntent

_MOST_CHARACTERS = 20_000


class _Reply(BaseModel):
    """What was asked for; what else stands there is not read."""

    model_config = ConfigDict(extra="ignore")

    intent: QueryIntent
    complexity: float = Field(ge=0, le=1)
    multi_part: bool = False
    needs_background: bool = False
    small_talk: bool = False

    @field_validator("intent", mode="before")
    @classmethod
    def _fold(cls, value: Any) -> Any:
        return value.strip().casefold() if isinstance(value, str) else value


def read_analysis(reply: str) -> QueryAnalysis | None:
    """The analysis in ``reply``, in prose or a fence or alone; None where it holds none that is whole. Never raises."""
    text = reply[:_MOST_CHARACTERS]
    start = text.find("{")
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start) if start >= 0 else (None, 0)
        read = _Reply.model_validate(value)
    except (ValidationError, ValueError, RecursionError):
        return None
    return QueryAnalysis(
        intent=read.intent,
        estimated_complexity=round(read.complexity, 3),
        multi_part=read.multi_part,
        needs_background=read.needs_background,
        small_talk=read.small_talk,
        reason=f"the chat model: {read.intent}; complexity {read.complexity:.2f}",
    )
