"""Settings of the process: where things are kept, which models run, how many threads. A run's are in RAGConfig."""

import os
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from citeloop.errors import InvalidRequest
from citeloop.state.config import ClaimPolicy, ReviewPolicy

_LEAST_SECRET_BYTES = 32  # RFC 7518, 3.2: a key for HS256 is at least as long as its hash


class Settings(BaseSettings):
    """Process settings: ``CITELOOP_<FIELD>`` in the environment or ``.env``, and two names every OpenAI client reads.

    Arguments (by field name) rule over the environment, the environment over ``.env``; an empty value counts as absent.
    Raises InvalidRequest in one line that names each bad setting and shows no value.
    """

    model_config = SettingsConfigDict(
        env_prefix="CITELOOP_",
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        frozen=True,
        extra="ignore",  # a .env is shared with other programs
        populate_by_name=True,
        hide_input_in_errors=True,
    )

    home: Path = Field(default=Path("~/.citeloop"), description="Folder of the stores, indexes and the audit.")
    embedding_model: str = Field(
        default="all-MiniLM-L6-v2", min_length=1, description="Name or folder of a sentence-transformers model."
    )
    embedding_backend: Literal["auto", "onnx", "sentence-transformers"] = Field(
        default="auto", description="What runs the embedding model; auto: onnx where its weights are installed."
    )
    model_downloads: bool = Field(
        default=False, description="Fetch embedding and reranking models from the model hub when not on this machine."
    )
    chat_model: str = Field(
        default="gpt-4.1-mini", min_length=1, description="Name of the chat model, as its endpoint knows it."
    )
    openai_api_key: SecretStr | None = Field(
        default=None, validation_alias="OPENAI_API_KEY", description="Key of the chat endpoint."
    )
    openai_base_url: str | None = Field(
        default=None,
        validation_alias="OPENAI_BASE_URL",
        repr=False,  # may hold a password
        description="Base URL of an OpenAI-compatible endpoint, with its /v1; empty: OpenAI's own.",
    )
    chat_timeout_s: float = Field(default=60.0, gt=0, le=3600, description="Seconds for one attempt at a chat call.")
    chat_max_retries: int = Field(default=2, ge=0, le=10, description="Further attempts after a chat call failed.")
    chat_calls: int = Field(
        default=4, ge=1, le=64, description="Chat calls at a time while relations are read at indexing."
    )
    threads: int = Field(
        default_factory=lambda: _usable_cores(), ge=1, le=256, description="Cores of one embedding call; default: all."
    )
    workers: int = Field(
        default=32, ge=1, le=256, description="Threads for blocking work: reads, searches, models without async."
    )
    prompts: Path | None = Field(
        default=None, description="Folder of prompts of your own, each named as the shipped one that it replaces."
    )
    require_access_reason: bool = Field(default=False, description="Whether ask, too, must give an access reason.")
    jwt_issuer: str | None = Field(default=None, description="Who signs the tokens of callers: their claim iss.")
    jwt_audience: str | None = Field(default=None, description="What their claim aud must name.")
    jwt_key_set: str | None = Field(
        default=None, description="Public keys of the issuer: an https:// URL, or a path, of a JSON Web Key Set."
    )
    jwt_secret: SecretStr | None = Field(
        default=None, description="Instead of a key set: a secret of at least 32 bytes shared with the issuer (HS256)."
    )
    jwt_groups_claim: str = Field(default="groups", min_length=1, description="Claim that names the caller's groups.")
    expose_steps: bool | None = Field(
        default=None,
        description="Whether clients of a server may see and change the steps of a run (drafts, state between nodes); "
        "default: only where callers are not authenticated.",
    )
    review: ReviewPolicy = Field(
        default="off", description="Answers that wait for a person, at the least; a run may ask for more, not for less."
    )
    claim_policy: ClaimPolicy = Field(
        default="annotate",
        description="What is done about claims, at the least (off, annotate, strict); a run may ask for a stricter "
        "policy, not for a weaker one.",
    )
    support_judge: Literal["none", "nli", "model"] = Field(
        default="none",
        description="Who judges the claims that stand nowhere verbatim, after the offline score: an NLI cross-encoder, "
        "the chat model, or nobody else.",
    )
    nli_model: str = Field(
        default="cross-encoder/nli-deberta-v3-base", min_length=1, description="Name or folder of the NLI model."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(default="WARNING", description="Least level shown.")

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise InvalidRequest("; ".join(map(_explain, error.errors()))) from None

    @property
    def uses_chat_endpoint(self) -> bool:
        """Whether a chat endpoint is configured; otherwise answers are quoted by the extractive model."""
        return self.openai_api_key is not None or self.openai_base_url is not None

    @property
    def accepts_tokens(self) -> bool:
        """Whether callers may come with signed tokens."""
        return self.jwt_issuer is not None

    @field_validator("home", "prompts")
    @classmethod
    def _expand_user(cls, folder: Path | None) -> Path | None:
        return folder and folder.expanduser()

    @field_validator("openai_base_url")
    @classmethod
    def _check_url(cls, url: str | None) -> str | None:
        if url is not None and not _is_http_url(url):
            raise ValueError("must be an http:// or https:// URL")
        return url

    @field_validator("jwt_key_set")
    @classmethod
    def _check_key_set(cls, place: str | None) -> str | None:
        if place is not None and "://" in place and not _is_private_url(place):
            raise ValueError("must be an https:// URL (http:// from this machine alone) or a path")
        return place

    @field_validator("jwt_secret")
    @classmethod
    def _check_secret(cls, secret: SecretStr | None) -> SecretStr | None:
        if secret is not None and len(secret.get_secret_value().encode()) < _LEAST_SECRET_BYTES:
            raise ValueError(f"must have at least {_LEAST_SECRET_BYTES} bytes")
        return secret

    @model_validator(mode="after")
    def _check_tokens(self) -> Self:
        """A half-set identity is an error, never an open server."""
        needed = {"ISSUER": self.jwt_issuer, "AUDIENCE": self.jwt_audience, "KEY_SET": self.jwt_key_set}
        if self.jwt_secret is not None:
            if self.jwt_key_set is not None:
                raise ValueError("CITELOOP_JWT_KEY_SET and CITELOOP_JWT_SECRET exclude each other; set one of them")
            del needed["KEY_SET"]
        missing = [f"CITELOOP_JWT_{name}" for name, value in needed.items() if value is None]
        if missing and (self.jwt_secret is not None or len(missing) < len(needed)):
            raise ValueError(f"signed tokens are half set up; set {' and '.join(missing)} as well, or none of them")
        return self


def _explain(problem: ErrorDetails) -> str:
    if not problem["loc"]:  # concerns several settings, which it names
        return problem["msg"].removeprefix("Value error, ")
    name = str(problem["loc"][0])
    variable = name if name.startswith("OPENAI_") else f"CITELOOP_{name.upper()}"
    return f"setting {variable}: {problem['msg'].removeprefix('Value error, ')}"


def _is_http_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _is_private_url(url: str) -> bool:
    """Whether nobody on the way can change what the URL gives."""
    return _is_http_url(url) and (
        url.lower().startswith("https:") or urlsplit(url).hostname in ("127.0.0.1", "::1", "localhost")
    )


def _usable_cores() -> int:
    """Cores that this process may run on: fewer than the machine has, in a container."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
