"""Signed tokens: whose they are, and what is refused."""

import json
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from citeloop.errors import CredentialsRefused
from citeloop.governance.signing_keys import KEEP_S, REFRESH_S, RETRY_S, KeySet, SharedSecret
from citeloop.governance.tokens import TokenVerifier
from citeloop.state.models import UserContext

SECRET = "s" * 32
ISSUER, AUDIENCE = "https://login.example.org/", "citeloop"
RSA_KEY = rsa.generate_private_key(65537, 2048)
KEYS: dict[str, Any] = {
    "RS256": RSA_KEY,
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}
TO_JWK: dict[str, Callable[..., Any]] = {
    "RS256": jwt.algorithms.RSAAlgorithm.to_jwk,
    "ES256": jwt.algorithms.ECAlgorithm.to_jwk,
    "EdDSA": jwt.algorithms.OKPAlgorithm.to_jwk,
}


def public(algorithm: str, key: Any = None, **more: str) -> dict[str, Any]:
    return {**TO_JWK[algorithm]((key or KEYS[algorithm]).public_key(), as_dict=True), **more}


def key_set(path: Path, *keys: dict[str, Any]) -> str:
    path.write_text(json.dumps({"keys": keys}))
    return str(path)


def token(key: Any = SECRET, algorithm: str = "HS256", kid: str | None = None, **claims: Any) -> str:
    body = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": time.time() + 60, **claims}
    body = {name: value for name, value in body.items() if value is not None}
    return jwt.encode(body, key, algorithm, headers={"kid": kid} if kid else None)


def verifier(place: str | None = None, groups_claim: str = "groups", **options: Any) -> TokenVerifier:
    keys = KeySet(place, **options) if place else SharedSecret(SECRET)
    return TokenVerifier(keys, ISSUER, AUDIENCE, groups_claim)


def refused(verifier: TokenVerifier, text: str) -> bool:
    try:
        verifier.caller(text)
    except CredentialsRefused:
        return True
    return False


def test_user_and_groups() -> None:
    assert verifier().caller(token()) == UserContext(user_id="ann")
    assert verifier().caller(token(groups=["a", "b", "a"])).groups == ("a", "b")
    assert verifier().caller(token(groups="one two")).groups == ("one two",)
    assert verifier(groups_claim="roles").caller(token(groups=["a"], roles=["b"])).groups == ("b",)
    assert verifier().caller(token(aud=["other", AUDIENCE])).user_id == "ann"


def test_a_clock_may_be_off_by_some_seconds() -> None:
    assert verifier().caller(token(exp=time.time() - 10)).user_id == "ann"
    assert refused(verifier(), token(exp=time.time() - 60))
    assert refused(verifier(), token(nbf=time.time() + 60))


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://login.example.org"},
        {"iss": None},
        {"aud": "other"},
        {"aud": None},
        {"exp": None},
        {"sub": None},
        {"sub": ""},
        {"sub": " "},
        {"sub": "local"},
        {"sub": "an\nn"},
        {"groups": {"a": 1}},
        {"groups": [1]},
        {"groups": ["a", ""]},
        {"groups": 7},
    ],
)
def test_wrong_claims(claims: dict[str, Any]) -> None:
    assert refused(verifier(), token(**claims))


def test_another_secret() -> None:
    assert refused(verifier(), token("x" * 32))
    assert refused(verifier(), token("s" * 64, "HS512"))
    assert refused(verifier(), "")
    assert refused(verifier(), token()[:-2])


@pytest.mark.parametrize("algorithm", sorted(KEYS))
def test_keys_of_a_set(tmp_path: Path, algorithm: str) -> None:
    place = key_set(tmp_path / "keys", *(public(name, kid=name) for name in KEYS))
    assert verifier(place).caller(token(KEYS[algorithm], algorithm, kid=algorithm)).user_id == "ann"
    other = next(name for name in KEYS if name != algorithm)
    assert refused(verifier(place), token(KEYS[algorithm], algorithm, kid=other))
    assert refused(verifier(place), token(KEYS[algorithm], algorithm, kid="unknown"))
    assert refused(verifier(place), token(KEYS[algorithm], algorithm)), "which of three?"


def test_the_key_says_which_algorithm_not_the_token(tmp_path: Path) -> None:
    place = key_set(tmp_path / "keys", public("RS256", kid="k", alg="RS512"))
    assert verifier(place).caller(token(RSA_KEY, "RS512", kid="k")).user_id == "ann"
    assert refused(verifier(place), token(RSA_KEY, "RS256", kid="k"))
    assert refused(verifier(place), token(RSA_KEY, "PS256", kid="k"))
    assert refused(verifier(place), jwt.encode({"sub": "ann"}, None, "none", headers={"kid": "k"}))


def test_published_secrets_and_encryption_keys_sign_nothing(tmp_path: Path) -> None:
    secret = {"kty": "oct", "k": jwt.utils.base64url_encode(SECRET.encode()).decode(), "kid": "s", "alg": "HS256"}
    place = key_set(tmp_path / "keys", secret, public("RS256", kid="e", use="enc"), public("ES256", kid="k"))
    assert refused(verifier(place), token(kid="s"))
    assert refused(verifier(place), token(RSA_KEY, "RS256", kid="e"))
    assert verifier(place).caller(token(KEYS["ES256"], "ES256")).user_id == "ann", "the only key that is left"


def test_keys_by_url(tmp_path: Path) -> None:
    asked = []

    class Publisher(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(302 if self.path == "/moved" else 200)
            self.send_header("Location", "/keys")
            self.end_headers()
            self.wfile.write(json.dumps({"keys": [public("ES256", kid="k")]}).encode())

        def log_message(self, *_: object) -> None:
            """Quiet."""

    good = token(KEYS["ES256"], "ES256", kid="k")
    with ThreadingHTTPServer(("127.0.0.1", 0), Publisher) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        by_url = verifier(f"{url}/keys")
        assert [by_url.caller(good).user_id for _ in range(3)] == ["ann"] * 3
        assert asked == ["/keys"], "read once"
        assert refused(verifier(f"{url}/moved"), good), "keys come from where the settings say"
        server.shutdown()
    assert by_url.caller(good).user_id == "ann"
    assert refused(verifier(f"{url}/keys"), good), "an issuer that cannot be reached lets nobody in"


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_new_key_works_at_once_but_made_up_ids_cause_no_storm(tmp_path: Path, monkeypatch: Any) -> None:
    from citeloop.governance import signing_keys

    reads, read = [], signing_keys._read
    monkeypatch.setattr(signing_keys, "_read", lambda place: reads.append(place) or read(place))
    clock, place = Clock(), key_set(tmp_path / "keys", public("ES256", kid="old"))
    checked = verifier(place, clock=clock)
    assert checked.caller(token(KEYS["ES256"], "ES256", kid="old")).user_id == "ann"
    key_set(tmp_path / "keys", public("ES256", kid="old"), public("RS256", kid="new"))
    for _ in range(5):
        assert refused(checked, token(RSA_KEY, "RS256", kid="new"))
    assert len(reads) == 1
    clock.now += RETRY_S
    assert checked.caller(token(RSA_KEY, "RS256", kid="new")).user_id == "ann"
    assert len(reads) == 2


def test_a_key_that_is_withdrawn_dies_and_an_outage_is_bridged_for_a_while(tmp_path: Path) -> None:
    clock, place = Clock(), key_set(tmp_path / "keys", public("ES256", kid="k"))
    checked, good = verifier(place, clock=clock), token(KEYS["ES256"], "ES256", kid="k")
    assert checked.caller(good).user_id == "ann"
    (tmp_path / "keys").write_text("not JSON")
    clock.now += REFRESH_S + 1
    assert checked.caller(good).user_id == "ann"
    clock.now += KEEP_S
    assert refused(checked, good)
    key_set(tmp_path / "keys", public("ES256", kid="k"))
    clock.now += RETRY_S
    assert checked.caller(good).user_id == "ann"
    key_set(tmp_path / "keys", public("RS256", kid="other"))
    clock.now += REFRESH_S + 1
    assert refused(checked, good)
