"""What a caller shows to be let in, and whether one must show anything at all."""

from collections.abc import Mapping

from citeloop.errors import CredentialsRefused
from citeloop.governance.api_keys import KEY_PREFIX, ApiKeys
from citeloop.governance.tokens import token_verifier
from citeloop.settings import Settings
from citeloop.state.models import UserContext


class Credentials:
    """Checks the credentials that a request carries in its headers. Blocking, thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self._tokens = token_verifier(settings)
        self._keys = ApiKeys(settings.home)
        self._required = self._tokens is not None

    def required(self) -> bool:
        """Whether callers are authenticated: tokens are set up, or a key was ever made. Once true, it stays so."""
        self._required = self._required or self._keys.ever_made()
        return self._required

    def caller(self, headers: Mapping[str, str]) -> UserContext:
        """Who sent a request with these headers (names in lower case).

        ``Authorization: Bearer`` takes a token or a key, and rules; ``x-api-key`` takes a key. A foreign value in
        ``x-api-key`` is passed over: LangGraph's client sends the one of LangSmith that it finds in its environment.

        Raises ``CredentialsRefused``; a ``StoreError`` when the keys cannot be read.
        """
        scheme, _, shown = headers.get("authorization", "").partition(" ")
        if not scheme:
            shown = headers.get("x-api-key", "")
        elif scheme.lower() != "bearer":
            raise CredentialsRefused
        shown = shown.strip()
        if shown.startswith(KEY_PREFIX):
            return self._keys.caller(shown)
        if scheme and self._tokens is not None:
            return self._tokens.caller(shown)
        raise CredentialsRefused


def steps_are_exposed(settings: Settings, credentials: Credentials) -> bool:
    """Whether a server shows its clients the steps of a run: as the settings say, else where nobody has to log in."""
    return not credentials.required() if settings.expose_steps is None else settings.expose_steps
