"""The keys that tokens are checked with: an issuer's public key set, or a secret shared with it."""

import logging
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Protocol

from citeloop.errors import CredentialsRefused

if TYPE_CHECKING:
    from jwt import PyJWK, PyJWKSet
    from jwt.algorithms import AllowedPublicKeys

_log = logging.getLogger(__name__)

REFRESH_S = 600.0
"""Age at which a key set is read again."""
RETRY_S = 30.0
"""Least time between two readings: tokens with made-up key ids cannot make us hammer the issuer."""
KEEP_S = 3600.0
"""Age to which keys are believed while their source cannot be read."""
_FETCH_TIMEOUT_S = 5.0


class SigningKey(NamedTuple):
    """A key and the one algorithm it is good for: what a token says about its own algorithm decides nothing."""

    key: "AllowedPublicKeys | str"
    algorithm: str


class SigningKeys(Protocol):
    """Finds the key of a token. May block; thread-safe."""

    def find(self, key_id: str | None) -> SigningKey:
        """The key of that id (``kid``). Raises ``CredentialsRefused`` when there is none."""


class SharedSecret:
    """A secret of at least 32 bytes, for HS256."""

    def __init__(self, secret: str) -> None:
        self._key = SigningKey(secret, "HS256")

    def find(self, key_id: str | None) -> SigningKey:
        """The secret, whatever the id."""
        return self._key


class KeySet:
    """The public keys of a JSON Web Key Set (RFC 7517) at an https URL or in a file, read again from time to time.

    Symmetric keys in it are passed over: what is published signs nothing. A key id not known yet causes a reading, so a
    new key works at once, but not more often than every ``RETRY_S`` seconds.
    """

    def __init__(self, place: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._place = place
        self._clock = clock
        self._keys: dict[str | None, SigningKey] = {}
        self._read_at = self._tried_at = float("-inf")
        self._reading = Lock()

    def find(self, key_id: str | None) -> SigningKey:
        """See ``SigningKeys``. A token without a key id takes the only key, where there is only one."""
        age = self._clock() - self._read_at
        if age > REFRESH_S or self._known(key_id) is None:
            self._refresh()
            age = self._clock() - self._read_at
        key = self._known(key_id)
        if key is None or age > KEEP_S:
            raise CredentialsRefused
        return key

    def _known(self, key_id: str | None) -> SigningKey | None:
        keys = self._keys
        return next(iter(keys.values())) if key_id is None and len(keys) == 1 else keys.get(key_id)

    def _refresh(self) -> None:
        with self._reading:
            if self._clock() - self._tried_at < RETRY_S:
                return
            self._tried_at = self._clock()
            try:
                keys = _read(self._place).keys
            except Exception as error:  # the network's, the file system's, and PyJWT's many
                _log.warning("the key set of CITELOOP_JWT_KEY_SET cannot be read: %s", type(error).__name__)
                return
            self._keys = {key.key_id: SigningKey(key.key, key.algorithm_name) for key in keys if _signs(key)}
            self._read_at = self._clock()


def _read(place: str) -> "PyJWKSet":
    from jwt import PyJWKClient, PyJWKSet

    if "://" in place:
        return PyJWKClient(place, cache_jwk_set=False, timeout=_FETCH_TIMEOUT_S).get_jwk_set()
    return PyJWKSet.from_json(Path(place).expanduser().read_text("utf-8"))


def _signs(key: "PyJWK") -> bool:
    return key.key_type in ("RSA", "EC", "OKP") and key.public_key_use in ("sig", None)
