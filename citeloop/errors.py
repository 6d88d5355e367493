"""The one exception tree of citeloop.

    CiteloopError
    ├── RequestError              the caller can mend it (a ValueError, too)
    │   ├── MissingReason         access_reason is required and absent
    │   ├── InvalidRequest        empty question, unknown strategy, setting out of bounds
    │   ├── CorpusNotFound        missing, or not open to the caller (told alike on purpose)
    │   ├── CredentialsRefused    none, wrong, expired or revoked (told alike on purpose)
    │   ├── IdentityNotSetUp      a server without identity was asked by another than its own machine
    │   └── ReviewPending         the answer waits for a person's decision
    ├── LoadError                 a file that gives no document: reported and skipped, the rest is indexed
    │   ├── UnsupportedFormat     no loader for this kind of file
    │   ├── UnreadableFile        missing, no permission, not a regular file
    │   ├── UndecodableText       binary, or in an encoding that cannot be told
    │   └── EmptyDocument         no text in it
    ├── StoreError
    │   ├── StoreBusy             another process holds the write lock                retryable
    │   ├── EmbeddingMismatch     the corpus was filled by another embedding model
    │   ├── StoreCorrupt          a file of the store cannot be read
    │   ├── StoreVersionMismatch  written by another version, in another format
    │   └── SearchFailed          every search of a question failed or timed out      retryable
    ├── ModelError                (a RuntimeError, too)
    │   ├── ModelUnavailable      endpoint unreachable or refused                     retryable
    │   ├── ModelTimeout          no reply in the time allowed                        retryable
    │   ├── ModelReplyInvalid     the endpoint answered something unreadable
    │   └── WeightsNotFound       no local weights, or their hash is wrong
    ├── OutputNotWritten          a file for the result could not be written
    └── UsageError                sync call from the engine's own event loop, and the like

Every leaf has a stable ``code``, says whether the same call may work later (``retryable``), and its message is one line
that names what failed, where, and what to do next. An error is never returned as answer text.

The LangGraph server shows clients the message of an error of some builtin kinds only, hence those second bases: what
the caller can mend, and what the model said, is told; what could name a path of the server is not.
"""

from typing import Self

_SHOWN_CHARACTERS = 100


class CiteloopError(Exception):
    """Base of all errors that citeloop raises on purpose."""

    code = "error"
    retryable = False


class RequestError(CiteloopError, ValueError):
    """The request cannot be served as asked."""

    code = "request"


class MissingReason(RequestError):
    """``access_reason`` is required and absent."""

    code = "missing_reason"


class InvalidRequest(RequestError):
    """A value of the request is empty, unknown or out of bounds."""

    code = "invalid_request"


class CorpusNotFound(RequestError):
    """No such corpus, or the caller may not open it: the message is the same for both."""

    code = "corpus_not_found"

    def __init__(self, name: str) -> None:
        shown = name if len(name) <= _SHOWN_CHARACTERS else f"{name[:_SHOWN_CHARACTERS]}..."
        super().__init__(f"no corpus named {shown!r} is open to you; list those that are with `citeloop corpora`")
        self.name = name

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.name,)


class CredentialsRefused(RequestError):
    """No credentials, or such as are wrong, expired or revoked: the message is the same for all."""

    code = "credentials_refused"

    def __init__(self) -> None:
        super().__init__(
            "credentials are missing, wrong or no longer valid; send a token or a key of this server "
            "(Authorization: Bearer ..., or x-api-key: cl_...)"
        )

    def __reduce__(self) -> tuple[type[Self], tuple[()]]:
        return type(self), ()


class IdentityNotSetUp(RequestError):
    """A server without identity answers its own machine alone, and the request came from elsewhere."""

    code = "identity_not_set_up"

    def __init__(self) -> None:
        super().__init__(
            "this server has no identity set up and answers its own machine alone; set it up with "
            "`citeloop keys create --user ID` or CITELOOP_JWT_ISSUER, CITELOOP_JWT_AUDIENCE and CITELOOP_JWT_KEY_SET"
        )

    def __reduce__(self) -> tuple[type[Self], tuple[()]]:
        return type(self), ()


class ReviewPending(RequestError):
    """The answer is there, and waits for a person's decision (``RAGConfig.review``)."""

    code = "review_pending"

    def __init__(self, thread_id: str, review: dict[str, object]) -> None:
        super().__init__(f"the answer waits for review on thread {thread_id}; decide with engine.review")
        self.thread_id = thread_id
        self.review = review
        """What there is to decide on: answer, status, confidence, citations, note, decisions."""

    def __reduce__(self) -> tuple[type[Self], tuple[str, dict[str, object]]]:
        return type(self), (self.thread_id, self.review)


class LoadError(CiteloopError):
    """A file gives no document."""

    code = "load"


class UnsupportedFormat(LoadError):
    """No loader for this kind of file."""

    code = "unsupported_format"


class UnreadableFile(LoadError):
    """The file is missing, may not be read, or is not a regular file."""

    code = "unreadable_file"


class UndecodableText(LoadError):
    """The file is binary, or its encoding cannot be told."""

    code = "undecodable_text"


class EmptyDocument(LoadError):
    """The file holds no text."""

    code = "empty_document"


class StoreError(CiteloopError):
    """The knowledge store cannot do what was asked."""

    code = "store"


class StoreBusy(StoreError):
    """Another process is writing to the store."""

    code = "store_busy"
    retryable = True


class EmbeddingMismatch(StoreError):
    """The corpus was filled by another embedding model."""

    code = "embedding_mismatch"


class StoreCorrupt(StoreError):
    """A file of the store cannot be read."""

    code = "store_corrupt"


class SearchFailed(StoreError):
    """Every search of a question failed or timed out."""

    code = "search_failed"
    retryable = True


class StoreVersionMismatch(StoreError):
    """The store was written by another version of citeloop, in another format."""

    code = "store_version_mismatch"


class ModelError(CiteloopError, RuntimeError):
    """A model could not be loaded or did not do its part."""

    code = "model"


class ModelUnavailable(ModelError):
    """The endpoint is unreachable or refused the call."""

    code = "model_unavailable"
    retryable = True


class ModelTimeout(ModelError):
    """No reply in the time allowed."""

    code = "model_timeout"
    retryable = True


class ModelReplyInvalid(ModelError):
    """The endpoint answered something that is no chat completion."""

    code = "model_reply_invalid"


class WeightsNotFound(ModelError):
    """No local weights for the model, or their hash is wrong."""

    code = "weights_not_found"


class OutputNotWritten(CiteloopError):
    """A file that the result was to go to could not be written."""

    code = "output_not_written"


class UsageError(CiteloopError):
    """The library was called in a way that cannot work."""

    code = "usage"
