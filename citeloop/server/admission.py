"""Who sent a request: credentials where any are set up, else the local user from this machine alone."""

import asyncio
import logging
from collections.abc import Mapping
from threading import Lock

from citeloop.errors import CredentialsRefused, IdentityNotSetUp
from citeloop.governance.credentials import Credentials, steps_are_exposed
from citeloop.server.loopback import is_local
from citeloop.settings import Settings
from citeloop.state.models import UserContext
from citeloop.workers import WorkerPool

_log = logging.getLogger(__name__)

_THREADS = 8  # one may wait for an issuer's key set; the others answer meanwhile

OPEN_TO_THIS_MACHINE = (
    "NO IDENTITY IS SET UP: whoever sits at this machine is the one local user and may read all that is indexed; "
    "requests from anywhere else are refused. Before serving others, make a key with `citeloop keys create --user ID`, "
    "or set CITELOOP_JWT_ISSUER, CITELOOP_JWT_AUDIENCE and CITELOOP_JWT_KEY_SET."
)


class Admission:
    """The door of the server. Opened once a process, when it is first asked for; its work is done in threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._credentials = Credentials(settings)
        self._workers = WorkerPool(_THREADS)

    async def caller(self, client: str | None, headers: Mapping[str, str]) -> UserContext:
        """Who sent a request, from the address ``client``.

        Raises ``CredentialsRefused`` or ``IdentityNotSetUp``; whatever goes wrong on the way is a refusal, too.
        """
        try:
            return await self._workers.run(self._caller, client, headers)
        except (CredentialsRefused, IdentityNotSetUp):
            raise
        except Exception as error:
            _log.error("a request was refused because its credentials could not be checked: %s", type(error).__name__)
            raise CredentialsRefused from error

    def _caller(self, client: str | None, headers: Mapping[str, str]) -> UserContext:
        if self._credentials.required():
            return self._credentials.caller(headers)
        if not is_local(client, headers):
            raise IdentityNotSetUp
        return UserContext()

    async def requires_credentials(self) -> bool:
        """Whether callers must show who they are."""
        return await self._workers.run(self._credentials.required)

    async def steps_are_exposed(self) -> bool:
        """Whether clients may see and change the steps of a run."""
        return await self._workers.run(steps_are_exposed, self._settings, self._credentials)

    async def announce(self) -> None:
        """Say so, loudly, where the server is open to its machine. Raises ``StoreError`` when keys cannot be read."""
        if not await self.requires_credentials():
            _log.warning(OPEN_TO_THIS_MACHINE)


_opening = Lock()
_admission: Admission | None = None


async def admission() -> Admission:
    """The one of this process; settings are read at the first call. Raises ``InvalidRequest`` when they are wrong."""
    if _admission is not None:
        return _admission
    return await asyncio.to_thread(_open_once)


def _open_once() -> Admission:
    global _admission
    with _opening:
        if _admission is None:
            _admission = Admission(Settings())
        return _admission
