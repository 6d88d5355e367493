"""Process settings: what is read, from where, and how a bad value is told."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from citeloop.errors import InvalidRequest
from citeloop.settings import Settings

KEY = "sk-very-secret-0123456789"


def test_defaults_need_no_endpoint() -> None:
    settings = Settings()
    assert settings.home == Path.home() / ".citeloop"
    assert not settings.uses_chat_endpoint
    assert settings.threads >= 1


@pytest.mark.parametrize(
    ("variable", "value"), [("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", "http://localhost:8000/v1")]
)
def test_key_or_base_url_configures_the_chat_endpoint(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    assert Settings().uses_chat_endpoint


def test_environment_rules_over_dotenv_and_arguments_over_both(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    dotenv = tmp_path / ".env"
    dotenv.write_text("CITELOOP_WORKERS=3\nCITELOOP_THREADS=3\nCITELOOP_LOG_LEVEL=INFO\nOTHER_PROGRAM=x\n")
    monkeypatch.setitem(Settings.model_config, "env_file", dotenv)
    monkeypatch.setenv("CITELOOP_WORKERS", "4")
    monkeypatch.setenv("CITELOOP_THREADS", "4")
    settings = Settings(threads=5)
    assert (settings.log_level, settings.workers, settings.threads) == ("INFO", 4, 5)


def test_unprefixed_names_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME_DIR", "/elsewhere")
    monkeypatch.setenv("CHAT_MODEL", "another")
    monkeypatch.setenv("WORKERS", "1")
    assert Settings() == Settings(chat_model="gpt-4.1-mini", workers=32)


def test_empty_value_counts_as_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "")
    monkeypatch.setenv("OPENAI_BASE_URL", "")
    assert not Settings().uses_chat_endpoint


def test_home_is_expanded() -> None:
    assert Settings(home="~/elsewhere").home == Path.home() / "elsewhere"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("CITELOOP_THREADS", "many"),
        ("CITELOOP_WORKERS", "0"),
        ("CITELOOP_EMBEDDING_BACKEND", "abacus"),
        ("CITELOOP_CHAT_TIMEOUT_S", "-1"),
        ("OPENAI_BASE_URL", "localhost:8000"),
        ("OPENAI_BASE_URL", "http://"),
        ("CITELOOP_JWT_KEY_SET", "http://login.example.org/keys"),
        ("CITELOOP_JWT_KEY_SET", "file:///etc/keys"),
        ("CITELOOP_JWT_SECRET", "s" * 31),
        ("CITELOOP_EXPOSE_STEPS", "perhaps"),
    ],
)
def test_bad_value_is_one_line_that_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(InvalidRequest) as caught:
        Settings()
    assert f"setting {variable}: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_secrets_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://user:hunter2@localhost/v1")
    shown = f"{Settings()!r} {Settings()}"
    assert KEY not in shown
    assert "hunter2" not in shown
    monkeypatch.setenv("OPENAI_BASE_URL", "ftp://user:hunter2@localhost")
    with pytest.raises(InvalidRequest) as caught:
        Settings()
    assert "hunter2" not in str(caught.value)


TOKENS = {"jwt_issuer": "https://login.example.org/", "jwt_audience": "citeloop"}


@pytest.mark.parametrize(
    "keys",
    [
        {"jwt_secret": "s" * 32},
        {"jwt_key_set": "keys.json"},
        {"jwt_key_set": "https://login.example.org/keys"},
        {"jwt_key_set": "http://127.0.0.1:8000/keys"},
    ],
)
def test_tokens_set_up(keys: dict[str, str]) -> None:
    assert Settings(**TOKENS, **keys).accepts_tokens
    assert not Settings().accepts_tokens
    assert "sss" not in repr(Settings(**TOKENS, **keys))


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"jwt_issuer": "i"}, "CITELOOP_JWT_AUDIENCE and CITELOOP_JWT_KEY_SET"),
        ({"jwt_audience": "a"}, "CITELOOP_JWT_ISSUER and CITELOOP_JWT_KEY_SET"),
        ({"jwt_key_set": "k"}, "CITELOOP_JWT_ISSUER and CITELOOP_JWT_AUDIENCE"),
        ({"jwt_secret": "s" * 32}, "CITELOOP_JWT_ISSUER and CITELOOP_JWT_AUDIENCE"),
        ({"jwt_issuer": "i", "jwt_audience": "a"}, "CITELOOP_JWT_KEY_SET"),
        ({"jwt_issuer": "i", "jwt_secret": "s" * 32}, "CITELOOP_JWT_AUDIENCE"),
    ],
)
def test_half_an_identity_is_an_error(given: dict[str, str], missing: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        Settings(**given)
    assert f"half set up; set {missing} as well" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "sss" not in str(caught.value)


def test_a_secret_and_a_key_set_exclude_each_other() -> None:
    with pytest.raises(InvalidRequest, match="exclude each other"):
        Settings(**TOKENS, jwt_secret="s" * 32, jwt_key_set="keys.json")


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError):
        Settings().workers = 2  # type: ignore[misc]


def test_a_folder_of_prompts_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings().prompts is None
    monkeypatch.setenv("CITELOOP_PROMPTS", "~/prompts")
    assert Settings().prompts == Path.home() / "prompts"
