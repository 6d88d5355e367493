"""What a run may ask for: settings that exist and, where steps are not shown, no way to see or change them."""

from collections.abc import Iterable, Mapping
from typing import Any, Final
from uuid import UUID, uuid5

from langgraph_sdk import Auth
from pydantic import BaseModel

from citeloop.errors import InvalidRequest

_ASSISTANTS: Final = UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8")
"""Namespace in which the server makes the id of a graph's own assistant of the graph's name."""

STEP_MODES = frozenset({"debug", "tasks", "checkpoints", "events"})
"""Stream modes that show what happens between the question and the answer."""


def check_run_settings(run: Mapping[str, Any], assistant: object) -> None:
    """As ``check_settings``, of a run about to start; where no context came, it holds a copy of ``configurable``."""
    config = run.get("config")
    context = run.get("context") if _configurable(config).get("__context_provided__") else None
    check_settings(context, config, assistant)


def check_settings(
    context: Mapping[str, Any] | None, config: Mapping[str, Any] | None, assistant: object = None
) -> None:
    """Refuse settings that are unknown or out of bounds: the server would drop unknown ones without a word.

    ``assistant``: a graph's name, or the id of the server's own assistant of a graph. An assistant that a user made
    does not tell its graph here: what none of the graphs would take is refused then.

    ``config.configurable``, which the server takes instead of a context, also holds the server's own keys and those of
    other applications: there, only the settings that we know are looked at.
    """
    from citeloop.graph.run_settings import SETTINGS_OF

    graph = _graph_of(assistant, SETTINGS_OF)
    kinds = [SETTINGS_OF[graph]] if graph else [*SETTINGS_OF.values()]
    problems = [_problem(context, _configurable(config), kind) for kind in kinds]
    if all(problems):
        raise Auth.exceptions.HTTPException(status_code=422, detail=f"context: {problems[0]}")


def _problem(context: Mapping[str, Any] | None, configurable: Mapping[str, Any], kind: type[BaseModel]) -> str:
    from citeloop.graph.run_settings import read_settings

    known = {name: configurable[name] for name in kind.model_fields if name in configurable}
    try:
        read_settings({**known, **(context or {})}, kind)
    except InvalidRequest as error:
        return str(error)
    return ""


def _graph_of(assistant: object, graphs: Iterable[str]) -> str:
    """The graph of ``assistant``; empty where it does not tell."""
    told = str(assistant)
    return next((graph for graph in graphs if told in (graph, str(uuid5(_ASSISTANTS, graph)))), "")


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
