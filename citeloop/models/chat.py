"""The chat model that writes answers, and what its failures mean to the person who asked."""

from collections.abc import Callable
from urllib.parse import urlsplit

from langchain_core import exceptions as provider
from langchain_core.language_models import BaseChatModel

from citeloop.errors import ModelError, ModelReplyInvalid, ModelTimeout, ModelUnavailable
from citeloop.settings import Settings

_OPENAI_URL = "https://api.openai.com/v1"
_NO_KEY = "not-needed"  # the client insists on one; servers that need no key read none


def build_chat_model(settings: Settings, fallback: Callable[[], BaseChatModel]) -> BaseChatModel:
    """``ChatOpenAI`` where ``settings`` hold a key or a base URL, else what ``fallback`` makes.

    The model may be used from several event loops, threads and forked children.
    """
    return _chat_openai(settings) if settings.uses_chat_endpoint else fallback()


def translate_model_error(error: Exception, llm: BaseChatModel) -> ModelError:
    """What ``error``, raised by a call of ``llm``, means: one line with the endpoint's host, the cause and the way out.

    Knows LangChain's provider-independent errors, so any integration that raises them is understood. Never quotes the
    endpoint's own words, which may hold the key: ``raise ... from None`` to keep them out of tracebacks as well.
    """
    if isinstance(error, ModelError):
        return error
    kind, cause = _meaning(error)
    return kind(f"chat model at {_endpoint(llm)} {cause}")


_MEANINGS: tuple[tuple[tuple[type[Exception], ...], type[ModelError], str], ...] = (
    (
        (provider.ModelTimeoutError, TimeoutError),
        ModelTimeout,
        "gave no reply in time; ask again, or raise CITELOOP_CHAT_TIMEOUT_S",
    ),
    (
        (provider.ModelConnectionError, ConnectionError),
        ModelUnavailable,
        "cannot be reached or broke off; check that it runs and that OPENAI_BASE_URL is right",
    ),
    (
        (provider.ModelAuthenticationError, provider.ModelPermissionDeniedError),
        ModelUnavailable,
        "refused the key; check OPENAI_API_KEY and what the key may use",
    ),
    (
        (provider.ModelNotFoundError,),
        ModelUnavailable,
        "knows no such model or path; check CITELOOP_CHAT_MODEL, and OPENAI_BASE_URL (it usually ends in /v1)",
    ),
    (
        (provider.ModelRateLimitError,),
        ModelUnavailable,
        "takes no more calls for now (rate limit or quota); wait and ask again",
    ),
    ((provider.ModelAPIError,), ModelUnavailable, "failed on its own side; ask again later"),
    (
        (provider.ContextOverflowError,),
        ModelReplyInvalid,
        "finds the prompt too long; lower max_context_tokens or choose a model with a larger window",
    ),
    (
        (provider.ModelInvalidRequestError,),
        ModelReplyInvalid,
        "refused the request as invalid; check CITELOOP_CHAT_MODEL and the run's token limits",
    ),
    ((provider.ModelRefusalError,), ModelReplyInvalid, "declined to answer; put the question in other words"),
    (
        (ValueError, TypeError, LookupError, AttributeError),  # what LangChain raises while it reads a malformed reply
        ModelReplyInvalid,
        "answered something that is no chat completion; check that OPENAI_BASE_URL is an OpenAI-compatible API",
    ),
)


def _meaning(error: Exception) -> tuple[type[ModelError], str]:
    for kinds, meaning, cause in _MEANINGS:
        if isinstance(error, kinds):
            return meaning, cause
    return ModelReplyInvalid, f"failed with {type(error).__name__}; check its settings"


def _endpoint(llm: BaseChatModel) -> str:
    """Host and port of the model's base URL (which may hold a password), or the name of a model that has none."""
    parts = urlsplit(str(getattr(llm, "openai_api_base", None) or ""))
    if not parts.hostname:
        return llm.get_name()
    return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname


def _chat_openai(settings: Settings) -> BaseChatModel:
    import httpx2  # the client library of openai >= 3
    from langchain_openai import ChatOpenAI
    from openai import DefaultAsyncHttpxClient, DefaultHttpxClient
    from pydantic import SecretStr

    # A kept connection belongs to the event loop and the process that opened it: a second asyncio.run() would fail with
    # "Event loop is closed", a forked child would share a socket. A new connection is cheap beside an answer.
    limits = httpx2.Limits(max_keepalive_connections=0)
    model = ChatOpenAI(
        model=settings.chat_model,
        api_key=settings.openai_api_key or SecretStr(_NO_KEY),
        base_url=settings.openai_base_url or _OPENAI_URL,
        timeout=settings.chat_timeout_s,
        stream_chunk_timeout=settings.chat_timeout_s,
        max_retries=settings.chat_max_retries,
        temperature=0,
        stream_usage=True,
        openai_proxy=None,  # the clients below read the usual proxy variables
        http_client=DefaultHttpxClient(limits=limits),
        http_async_client=DefaultAsyncHttpxClient(limits=limits),
    )
    if model.profile and model.profile.get("temperature") is False:
        return model.model_copy(update={"temperature": None})  # a reasoning model refuses any
    return model
