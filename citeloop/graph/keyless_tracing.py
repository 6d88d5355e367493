"""LangSmith sends traces even where it has no key; what a question holds is not to leave the machine that way."""

import logging
import os
from itertools import product

_log = logging.getLogger(__name__)

_DESTINATIONS = ("API_KEY", "ENDPOINT", "RUNS_ENDPOINTS")
_PREFIXES = ("LANGSMITH", "LANGCHAIN")


def switch_off_keyless_tracing() -> None:
    """Switch LangSmith's tracing off in this process, and say so, where only its switch is set: no key, no endpoint.

    Without a key its client would post every prompt to LangSmith all the same, to be refused there. An application with
    a client of its own configures it after this: ``langsmith.configure(client=..., enabled=True)``.
    """
    from langsmith.run_trees import configure
    from langsmith.utils import tracing_is_enabled

    if not tracing_is_enabled() or _has_destination():
        return
    configure(enabled=False)
    _log.warning("LANGSMITH_TRACING is on, but there is no LANGSMITH_API_KEY: nothing is traced")


def _has_destination() -> bool:
    return any(os.environ.get(f"{prefix}_{name}") for prefix, name in product(_PREFIXES, _DESTINATIONS))
