"""The settings of a run as they come from outside: told plainly when they cannot be read."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from citeloop.errors import InvalidRequest

Settings = TypeVar("Settings", bound=BaseModel)


def read_settings(context: Settings | Mapping[str, Any], kind: type[Settings]) -> Settings:
    """The run's settings, which arrive as plain JSON from a server. Raises ``InvalidRequest`` in one line."""
    try:
        return context if isinstance(context, kind) else kind.model_validate(context)
    except ValidationError as error:
        first = error.errors()[0]
        known = f"; the settings are {', '.join(kind.model_fields)}" if first["type"] == "extra_forbidden" else ""
        raise InvalidRequest(f"{'.'.join(map(str, first['loc']))}: {first['msg']}{known}") from None
