"""The settings of a run as they come from outside: told plainly when they cannot be read."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from citeloop.errors import InvalidRequest
from citeloop.state.config import RAGConfig


def read_settings(context: RAGConfig | Mapping[str, Any]) -> RAGConfig:
    """The run's settings, which arrive as plain JSON from a server. Raises ``InvalidRequest`` in one line."""
    try:
        return context if isinstance(context, RAGConfig) else RAGConfig.model_validate(context)
    except ValidationError as error:
        first = error.errors()[0]
        known = f"; the settings are {', '.join(RAGConfig.model_fields)}" if first["type"] == "extra_forbidden" else ""
        raise InvalidRequest(f"{'.'.join(map(str, first['loc']))}: {first['msg']}{known}") from None
