"""The chat model that writes answers, and what its failures mean to the person who asked."""

import logging
import traceback
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

from langchain_core import exceptions as provider
from langchain_core.language_models import BaseChatModel

from citeloop.errors import ModelError, ModelReplyInvalid, ModelTimeout, ModelUnavailable
from citeloop.settings import Settings

_log = logging.getLogger(__name__)

_OPENAI_URL = "https://api.openai.com/v1"
_MOST_CAUSES = 5
_NO_KEY = "not-needed"  # the client insists on one; servers that need no key read none


def build_chat_model(settings: Settings, fallback: Callable[[], BaseChatModel]) -> BaseChatModel:
    """``ChatOpenAI`` where ``settings`` hold a key or a base URL, else what ``fallback`` makes.

    The model may be used from several event loops, threads and forked children.
    """
    return _chat_openai(settings) if settings.uses_chat_endpoint else fallback()


def translate_model_error(error: Exception, llm: BaseChatModel) -> ModelError:
    """What ``error``, raised by a call of ``llm``, means: one line with the endpoint's host, the cause and the way out.

    A model without an endpoint is told by its own name. Knows LangChain's provider-independent errors, so any
    integration that raises them is understood. Never quotes the provider's own words, which may hold the key:
    ``raise ... from None`` to keep them out of tracebacks as well. What is logged, at DEBUG, is where the error was
    raised, without its words.
    """
    if isinstance(error, ModelError):
        return error
    _log.debug("the chat model failed: %s", _trail(error))
    endpoint, name = _endpoint(llm), type(error).__name__
    kind, cause, way_out = _meaning(error, has_endpoint=endpoint is not None)
    if endpoint is None:
        return kind(f"chat model {llm.get_name()} {cause} ({name}); check how it was set up, or ask again")
    return kind(f"chat model at {endpoint} {cause} ({name}); {way_out}")


class _Meaning(NamedTuple):
    error: type[ModelError]
    cause: str
    way_out: str
    """For a model at an endpoint."""


_MEANINGS: tuple[tuple[tuple[type[Exception], ...], _Meaning], ...] = (
    (
        (provider.ModelTimeoutError, TimeoutError),
        _Meaning(ModelTimeout, "gave no reply in time", "ask again, or raise CITELOOP_CHAT_TIMEOUT_S"),
    ),
    (
        (provider.ModelConnectionError, ConnectionError),
        _Meaning(
            ModelUnavailable,
            "cannot be reached or broke off",
            "check that it runs and that OPENAI_BASE_URL is right",
        ),
    ),
    (
        (provider.ModelAuthenticationError, provider.ModelPermissionDeniedError),
        _Meaning(ModelUnavailable, "refused the key", "check OPENAI_API_KEY and what the key may use"),
    ),
    (
        (provider.ModelNotFoundError,),
        _Meaning(
            ModelUnavailable,
            "knows no such model or path",
            "check CITELOOP_CHAT_MODEL, and OPENAI_BASE_URL (it usually ends in /v1)",
        ),
    ),
    (
        (provider.ModelRateLimitError,),
        _Meaning(ModelUnavailable, "takes no more calls for now (rate limit or quota)", "wait and ask again"),
    ),
    ((provider.ModelAPIError,), _Meaning(ModelUnavailable, "failed on its own side", "ask again later")),
    (
        (provider.ContextOverflowError,),
        _Meaning(
            ModelReplyInvalid,
            "finds the prompt too long",
            "lower max_context_tokens or choose a model with a larger window",
        ),
    ),
    (
        (provider.ModelInvalidRequestError,),
        _Meaning(
            ModelReplyInvalid,
            "refused the request as invalid",
            "check CITELOOP_CHAT_MODEL and the run's token limits",
        ),
    ),
    (
        (provider.ModelRefusalError,),
        _Meaning(ModelReplyInvalid, "declined to answer", "put the question in other words"),
    ),
)
_NO_COMPLETION = _Meaning(
    ModelReplyInvalid,
    "answered something that is no chat completion",
    "check that OPENAI_BASE_URL is an OpenAI-compatible API",
)
_WHILE_READING = (ValueError, TypeError, LookupError, AttributeError)
"""What LangChain raises while it reads a malformed reply of an endpoint; of another model they may mean anything."""


def _meaning(error: Exception, has_endpoint: bool) -> _Meaning:
    for kinds, meaning in _MEANINGS:
        if isinstance(error, kinds):
            return meaning
    if has_endpoint and isinstance(error, _WHILE_READING):
        return _NO_COMPLETION
    return _Meaning(ModelReplyInvalid, "failed", "check its settings")


def _trail(error: BaseException) -> str:
    """The error with those behind it: classes, and the lines of code they were raised at; no message text."""
    told: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(told) < _MOST_CAUSES:
        frames = traceback.extract_tb(cause.__traceback__)
        at = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
        told.append(f"{type(cause).__module__}.{type(cause).__qualname__}{at}")
        cause = cause.__cause__ or cause.__context__
    return ", after ".join(told)


def _endpoint(llm: BaseChatModel) -> str | None:
    """Host and port of the model's base URL (which may hold a password); None for a model that has none."""
    parts = urlsplit(str(getattr(llm, "openai_api_base", None) or ""))
    if not parts.hostname:
        return None
    return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname


def _chat_openai(settings: Settings) -> BaseChatModel:
    import httpx2  # the client library of openai >= 3
    from langchain_openai import ChatOpenAI
    from openai import DefaultAsyncHttpxClient, DefaultHttpxClient
    from pydantic import SecretStr

    # A kept connection belongs to the event loop and the process that opened it: a second asyncio.run() would fail with
    # "Event loop is closed", a forked child would share a socket. A new connection is cheap beside an answer.
    limits = httpx2.Limits(max_keepalive_connections=0)
    base_url, auth = _split_credentials(settings.openai_base_url or _OPENAI_URL)
    model = ChatOpenAI(
        model=settings.chat_model,
        api_key=settings.openai_api_key or SecretStr(_NO_KEY),
        base_url=base_url,
        timeout=settings.chat_timeout_s,
        stream_chunk_timeout=settings.chat_timeout_s,
        max_retries=settings.chat_max_retries,
        temperature=0,
        stream_usage=True,
        openai_proxy=None,  # the clients below read the usual proxy variables
        http_client=DefaultHttpxClient(limits=limits, auth=auth),
        http_async_client=DefaultAsyncHttpxClient(limits=limits, auth=auth),
    )
    if model.profile and model.profile.get("temperature") is False:
        return model.model_copy(update={"temperature": None})  # a reasoning model refuses any
    return model


def _split_credentials(url: str) -> tuple[str, tuple[str, str] | None]:
    """``url`` without its ``user:password@``, which would stand in every trace, and the two for the client to send."""
    parts = urlsplit(url)
    if "@" not in parts.netloc:
        return url, None
    bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    return bare, (unquote(parts.username or ""), unquote(parts.password or ""))
