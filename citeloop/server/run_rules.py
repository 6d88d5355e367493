"""What a run may ask for: settings that exist and, where steps are not shown, no way to see or change them."""

from collections.abc import Mapping
from typing import Any

from langgraph_sdk import Auth

from citeloop.errors import InvalidRequest

STEP_MODES = frozenset({"debug", "tasks", "checkpoints", "events"})
"""Stream modes that show what happens between the question and the answer."""


def check_run_settings(run: Mapping[str, Any]) -> None:
    """As ``check_settings``, of a run about to start; where no context came, it holds a copy of ``configurable``."""
    config = run.get("config")
    check_settings(run.get("context") if _configurable(config).get("__context_provided__") else None, config)


def check_settings(context: Mapping[str, Any] | None, config: Mapping[str, Any] | None) -> None:
    """Refuse settings that are unknown or out of bounds: the server would drop unknown ones without a word.

    ``config.configurable``, which the server takes instead of a context, also holds the server's own keys and those of
    other applications: there, only the settings that we know are looked at.
    """
    from citeloop.graph.run_settings import read_settings
    from citeloop.state.config import RAGConfig

    configurable = _configurable(config)
    known = {name: configurable[name] for name in RAGConfig.model_fields if name in configurable}
    try:
        read_settings({**known, **(context or {})}, RAGConfig)
    except InvalidRequest as error:
        raise Auth.exceptions.HTTPException(status_code=422, detail=f"context: {error}") from None


def check_hidden_steps(run: dict[str, Any]) -> None:
    """Refuse what would show or change the steps of a run; a mode that the server chose for its client is left out.

    ``run`` is what the server is about to start, and is changed in place.
    """
    command = run.get("command") or {}
    asked = [f"command.{key}" for key in ("goto", "update") if command.get(key)]
    asked += [key for key in ("interrupt_before", "interrupt_after") if run.get(key)]
    modes = run.get("stream_mode") or []
    modes = [modes] if isinstance(modes, str) else modes
    if _streams_events(run):
        run["stream_mode"] = [mode for mode in modes if mode not in STEP_MODES]
    else:
        asked += [f"stream_mode {mode}" for mode in modes if mode in STEP_MODES]
    if asked:
        raise steps_hidden(", ".join(asked))


def steps_hidden(asked: str) -> Exception:
    """The refusal of something that shows or changes steps."""
    return Auth.exceptions.HTTPException(
        status_code=403,
        detail=f"{asked}: the steps of a run are not open to clients of this server (CITELOOP_EXPOSE_STEPS)",
    )


def _streams_events(run: Mapping[str, Any]) -> bool:
    """Whether the run came by the server's event stream protocol, which asks for all modes on its client's behalf."""
    return bool(_configurable(run.get("config")).get("__event_streaming_v2"))


def _configurable(config: Mapping[str, Any] | None) -> Mapping[str, Any]:
    return (config or {}).get("configurable") or {}
