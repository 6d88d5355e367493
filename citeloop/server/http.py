"""The pages that we add to the LangGraph server, named in ``langgraph.json``; it asks for credentials there as well."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from citeloop.errors import CiteloopError
from citeloop.governance.identity import caller_of
from citeloop.graph.app import served_engine
from citeloop.server.admission import admission
from citeloop.server.health import check_health
from citeloop.settings import Settings


@asynccontextmanager
async def announce_identity(app: Starlette) -> AsyncIterator[None]:
    """At the start, say who will be let in; wrong settings, and keys that cannot be read, end the start."""
    await (await admission()).announce()
    yield


async def health(request: Request) -> JSONResponse:
    """Whether the parts that an answer needs are there and answer.
    ---
    summary: Whether the parts that an answer needs are there and answer
    responses:
      '200':
        description: All do; how long each took.
      '503':
        description: One does not; which, and why.
    """
    caller = caller_of({"configurable": {"langgraph_auth_user": request.user}})
    try:
        engine = await served_engine()
        uses_endpoint = await engine.workers.run(lambda: Settings().uses_chat_endpoint)
        told = await engine.workers.run(check_health, engine, caller, uses_chat_endpoint=uses_endpoint)
    except CiteloopError as error:
        return JSONResponse({"ok": False, "parts": {"engine": {"ok": False, "error": error.code}}}, status_code=503)
    return JSONResponse(told.model_dump(), status_code=200 if told.ok else 503)


app = Starlette(routes=[Route("/health", health)], lifespan=announce_identity)
