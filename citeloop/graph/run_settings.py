"""The settings of a run as they come from outside: told plainly when they cannot be read."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from citeloop.errors import InvalidRequest
from citeloop.state.config import RAGConfig
from citeloop.state.multi_query_config import RagFusionConfig, StepBackConfig, SubQuestionsConfig

Settings = TypeVar("Settings", bound=BaseModel)

SETTINGS_OF: Final[Mapping[str, type[BaseModel]]] = {
    "query": RAGConfig,
    "rag_fusion": RagFusionConfig,
    "sub_questions": SubQuestionsConfig,
    "step_back": StepBackConfig,
}
"""What the runs of each graph are set by."""


def read_settings(context: Settings | Mapping[str, Any], kind: type[Settings]) -> Settings:
    """The run's settings, which arrive as plain JSON from a server. Raises ``InvalidRequest`` in one line."""
    try:
        return context if isinstance(context, kind) else kind.model_validate(context)
    except ValidationError as error:
        first = error.errors()[0]
        known = f"; the settings are {', '.join(kind.model_fields)}" if first["type"] == "extra_forbidden" else ""
        raise InvalidRequest(f"{'.'.join(map(str, first['loc']))}: {first['msg']}{known}") from None
