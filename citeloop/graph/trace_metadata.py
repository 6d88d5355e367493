"""What a trace can be filtered by: told on the root of a run, and handed down to every run below it."""

from collections.abc import Mapping

from langchain_core.runnables import RunnableConfig


def attach_trace_metadata(config: RunnableConfig | None, input: object, strategy: str) -> RunnableConfig:
    """``config`` with metadata for a run on ``input``; what the caller's own metadata says under a key stands.

    ``strategy_asked``, ``command`` and ``corpora_asked``: how many names, 0 for all that are open. A run that goes on
    from a checkpoint has no input, so no command and no corpora. Never the question, its reason or names of corpora:
    metadata is kept where inputs are hidden (``LANGSMITH_HIDE_INPUTS``), and in checkpoints.
    """
    config = config or RunnableConfig()
    told = {"strategy_asked": strategy, **_asked(input)}
    return {**config, "metadata": {**told, **(config.get("metadata") or {})}}


def _asked(input: object) -> dict[str, str | int]:
    if not isinstance(input, Mapping):
        return {}
    corpora = input.get("corpora")
    return {
        "command": "ask" if input.get("command") == "ask" else "query",  # anything else is refused, and not repeated
        "corpora_asked": len(corpora) if isinstance(corpora, list) else 0,
    }
