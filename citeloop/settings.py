"""Settings of the process: where things are kept, which models run, how many threads. A run's are in RAGConfig."""

import os
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from citeloop.errors import InvalidRequest


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
    threads: int = Field(
        default_factory=lambda: _usable_cores(), ge=1, le=256, description="Cores of one embedding call; default: all."
    )
    workers: int = Field(
        default=32, ge=1, le=256, description="Threads for blocking work: reads, searches, models without async."
    )
    require_access_reason: bool = Field(default=False, description="Whether ask, too, must give an access reason.")
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

    @field_validator("home")
    @classmethod
    def _expand_home(cls, home: Path) -> Path:
        return home.expanduser()

    @field_validator("openai_base_url")
    @classmethod
    def _check_url(cls, url: str | None) -> str | None:
        if url is not None and not _is_http_url(url):
            raise ValueError("must be an http:// or https:// URL")
        return url


def _explain(problem: ErrorDetails) -> str:
    name = str(problem["loc"][0])
    variable = name if name.startswith("OPENAI_") else f"CITELOOP_{name.upper()}"
    return f"setting {variable}: {problem['msg'].removeprefix('Value error, ')}"


def _is_http_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _usable_cores() -> int:
    """Cores that this process may run on: fewer than the machine has, in a container."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
