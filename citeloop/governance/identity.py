"""Who is asking: what a caller may be called, and the one place that reads the caller out of a run's configuration."""

from collections.abc import Iterable
from typing import Final

from langchain_core.runnables import RunnableConfig

from citeloop.errors import InvalidRequest
from citeloop.state.models import UserContext
from citeloop.text.names import is_one_line

CALLER_KEY: Final = "citeloop_caller"
"""Key of ``config["configurable"]`` under which an embedding application passes a ``UserContext`` object."""

_LOCAL_USER = UserContext()
LOCAL_USER_ID: Final = _LOCAL_USER.user_id
"""The single user of the command line and of an embedded engine. No credential may carry this name."""

_MAX_CHARACTERS = 256


def authenticated_caller(user_id: str, groups: Iterable[str] = ()) -> UserContext:
    """The caller that a credential names; groups each once, in order.

    Raises:
        InvalidRequest: the user or a group is blank, too long, or has control characters or white space at its ends, or
            the user is the reserved one.
    """
    distinct = tuple(dict.fromkeys(groups))
    for name in (user_id, *distinct):
        if not 0 < len(name) <= _MAX_CHARACTERS or name != name.strip() or not is_one_line(name):
            raise InvalidRequest(f"{name!r} cannot name a user or a group; use 1 to {_MAX_CHARACTERS} plain characters")
    if user_id == LOCAL_USER_ID:
        raise InvalidRequest(f"the user {LOCAL_USER_ID!r} is the one of the command line; choose another name")
    return UserContext(user_id=user_id, groups=distinct)


def caller_of(config: RunnableConfig) -> UserContext:
    """The caller of this run.

    On a server: the user that the server authenticated, whatever else the request says. Embedded: the ``UserContext``
    object passed under ``CALLER_KEY``. A request's body can only carry JSON, never such an object, so a remote client
    cannot name a caller; anything else under the key is passed over.

    Raises:
        InvalidRequest: the server let a run in whose user has no id.
    """
    configurable = config.get("configurable") or {}
    user = configurable.get("langgraph_auth_user")
    if user is not None:
        if not user["identity"]:
            raise InvalidRequest("this run belongs to no user; send it with credentials")
        return UserContext(user_id=str(user["identity"]), groups=_groups(user))
    caller = configurable.get(CALLER_KEY)
    return caller if isinstance(caller, UserContext) else _LOCAL_USER


def _groups(user: object) -> tuple[str, ...]:
    try:
        groups = user["groups"]  # type: ignore[index]
    except (KeyError, TypeError):
        return ()
    return tuple(str(group) for group in groups)
