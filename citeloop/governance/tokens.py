"""Signed tokens (JSON Web Tokens, RFC 7519; checked as RFC 8725 asks)."""

import logging
from typing import Any

from citeloop.errors import CredentialsRefused, InvalidRequest
from citeloop.governance.identity import authenticated_caller
from citeloop.governance.signing_keys import KeySet, SharedSecret, SigningKeys
from citeloop.settings import Settings
from citeloop.state.models import UserContext

_log = logging.getLogger(__name__)

_LEEWAY_S = 30
_REQUIRED = ["iss", "aud", "sub", "exp"]


class TokenVerifier:
    """Reads the caller out of a token that one issuer signed for one audience. May block; thread-safe."""

    def __init__(self, keys: SigningKeys, issuer: str, audience: str, groups_claim: str = "groups") -> None:
        self._keys = keys
        self._issuer = issuer
        self._audience = audience
        self._groups_claim = groups_claim

    def caller(self, token: str) -> UserContext:
        """The user (``sub``) and groups of a valid token.

        Raises ``CredentialsRefused``, which says the same whatever is wrong with the token; the log says what.
        """
        from jwt import PyJWTError

        try:
            claims = self._claims(token)
            return authenticated_caller(claims["sub"], _group_names(claims.get(self._groups_claim)))
        except (PyJWTError, InvalidRequest) as error:
            _log.info("a token was refused: %s", type(error).__name__)
            raise CredentialsRefused from None

    def _claims(self, token: str) -> dict[str, Any]:
        import jwt

        key_id = jwt.get_unverified_header(token).get("kid")
        key, algorithm = self._keys.find(key_id)
        return jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            issuer=self._issuer,
            audience=self._audience,
            leeway=_LEEWAY_S,
            options={"require": _REQUIRED},
        )


def token_verifier(settings: Settings) -> TokenVerifier | None:
    """What the settings ask for; ``None`` where they accept no tokens."""
    if settings.jwt_issuer is None or settings.jwt_audience is None:
        return None
    keys: SigningKeys
    if settings.jwt_secret is not None:
        keys = SharedSecret(settings.jwt_secret.get_secret_value())
    else:
        keys = KeySet(str(settings.jwt_key_set))
    return TokenVerifier(keys, settings.jwt_issuer, settings.jwt_audience, settings.jwt_groups_claim)


def _group_names(claim: object) -> list[str]:
    """A list of names, or one name; no claim, no groups."""
    names = [claim] if isinstance(claim, str) else claim or []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InvalidRequest("the claim of groups is neither a name nor a list of names")
    return names
