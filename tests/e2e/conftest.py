"""Two servers for all tests here: one with nothing set up, one that authenticates its callers."""

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from citeloop.governance.api_keys import ApiKeys, NewKey
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.state.models import UserContext
from tests.e2e.dev_server import DevServer, dev_server

ISSUER, AUDIENCE = "https://login.example.org/", "citeloop-tests"


class Issuer:
    """Whoever signs the tokens of the callers."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())

    def key_set(self) -> str:
        public = jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return json.dumps({"keys": [{**public, "kid": "k1", "use": "sig", "alg": "ES256"}]})

    def token(self, user: str, **claims: Any) -> str:
        """A token of ``user``; a claim given as ``None`` is left out."""
        body = {"iss": ISSUER, "aud": AUDIENCE, "sub": user, "exp": int(time.time()) + 600, **claims}
        body = {name: value for name, value in body.items() if value is not None}
        return jwt.encode(body, self.key, "ES256", headers={"kid": "k1"})


class Client(NamedTuple):
    """Sends requests with the same headers."""

    url: str
    headers: dict[str, str]

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        with httpx.Client(base_url=self.url, headers=self.headers, timeout=60, trust_env=False) as client:
            return client.request(method, path, **options)

    def get(self, path: str) -> httpx.Response:
        return self.send("GET", path)

    def post(self, path: str, body: object = None, **options: Any) -> httpx.Response:
        return self.send("POST", path, json={} if body is None else body, **options)


class IdentityServer(NamedTuple):
    """A server that authenticates its callers. ``handbook`` is open to everyone, ``legal`` to the group staff."""

    server: DevServer
    issuer: Issuer
    keys: ApiKeys
    bob: NewKey
    """A key of a user without groups."""

    def client(self, user: str = "ann", **claims: Any) -> Client:
        """Requests with a token; ``ann`` is of the staff."""
        groups = ["staff"] if user == "ann" else []
        return self.as_sent(authorization=f"Bearer {self.issuer.token(user, **{'groups': groups, **claims})}")

    def as_sent(self, **headers: str) -> Client:
        """Requests with these headers; ``_`` in a name stands for ``-``."""
        return Client(self.server.url, {name.replace("_", "-"): value for name, value in headers.items()})


@pytest.fixture(scope="session")
def local_server(indexed_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    """With nothing set up: one local user."""
    folder = tmp_path_factory.mktemp("local-server")
    with dev_server(Path(shutil.copytree(indexed_home, folder / "home")), folder) as server:
        yield server


@pytest.fixture(scope="session")
def identity(indexed_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[IdentityServer]:
    """With tokens and keys."""
    folder = tmp_path_factory.mktemp("identity-server")
    home = Path(shutil.copytree(indexed_home, folder / "home"))
    store = HierarchicalKnowledgeStore(home)
    store.grant("handbook", ["everyone"], UserContext())
    store.grant("legal", ["group:staff"], UserContext())
    store.close()
    issuer, keys = Issuer(), ApiKeys(home)
    (folder / "keys.json").write_text(issuer.key_set())
    tokens = {
        "CITELOOP_JWT_ISSUER": ISSUER,
        "CITELOOP_JWT_AUDIENCE": AUDIENCE,
        "CITELOOP_JWT_KEY_SET": str(folder / "keys.json"),
    }
    bob = keys.create("bob")
    with dev_server(home, folder, "--n-jobs-per-worker", "4", **tokens) as server:
        yield IdentityServer(server, issuer, keys, bob)
