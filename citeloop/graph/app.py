"""The graphs that ``langgraph.json`` names: made at first use, over one engine a process. Importing this is free."""

import asyncio
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from citeloop.engine import RAGQueryEngine
    from citeloop.graph.configured_graph import ConfiguredGraph

_opening = Lock()
_engine: "RAGQueryEngine | None" = None


async def query() -> "ConfiguredGraph[Any]":
    """The query graph over the engine that the process settings describe."""
    return (await served_engine()).graphs["query"]


async def rag_fusion() -> "ConfiguredGraph[Any]":
    """The RAG-Fusion graph over the same engine."""
    return (await served_engine()).graphs["rag_fusion"]


async def sub_questions() -> "ConfiguredGraph[Any]":
    """The sub-questions graph over the same engine."""
    return (await served_engine()).graphs["sub_questions"]


async def step_back() -> "ConfiguredGraph[Any]":
    """The step-back graph over the same engine."""
    return (await served_engine()).graphs["step_back"]


async def served_engine() -> "RAGQueryEngine":
    """The engine of this process, opened at the first call, off the server's event loop."""
    return _engine if _engine is not None else await asyncio.to_thread(_open_once)


def _open_once() -> "RAGQueryEngine":
    global _engine
    with _opening:
        if _engine is None:
            from citeloop.engine import open_engine
            from citeloop.governance.access import OwnersAndGrants
            from citeloop.governance.credentials import Credentials, steps_are_exposed
            from citeloop.settings import Settings

            settings = Settings()
            # Where callers are authenticated, a run that lost its caller has no more rights than anybody.
            credentials = Credentials(settings)
            policy = OwnersAndGrants(local_user_is_trusted=not credentials.required())
            expose_steps = steps_are_exposed(settings, credentials)
            engine = open_engine(settings=settings, policy=policy, expose_steps=expose_steps)
            _ = engine.graphs  # made here, off the event loop
            _engine = engine
        return _engine
