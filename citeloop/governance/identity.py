"""Who is asking: the one place that reads the caller out of a run's configuration."""

from typing import Final

from langchain_core.runnables import RunnableConfig

from citeloop.state.models import UserContext

CALLER_KEY: Final = "citeloop_caller"
"""Key of ``config["configurable"]`` under which an embedding application passes a ``UserContext`` object."""

_LOCAL_USER = UserContext()


def caller_of(config: RunnableConfig) -> UserContext:
    """The caller of this run.

    On a server: the user that the server authenticated, whatever else the request says. Embedded: the ``UserContext``
    object passed under ``CALLER_KEY``. A request's body can only carry JSON, never such an object, so a remote client
    cannot name a caller; anything else under the key is passed over.
    """
    configurable = config.get("configurable") or {}
    user = configurable.get("langgraph_auth_user")
    if user is not None:
        return UserContext(user_id=str(user["identity"]), groups=_groups(user))
    caller = configurable.get(CALLER_KEY)
    return caller if isinstance(caller, UserContext) else _LOCAL_USER


def _groups(user: object) -> tuple[str, ...]:
    try:
        groups = user["groups"]  # type: ignore[index]
    except (KeyError, TypeError):
        return ()
    return tuple(str(group) for group in groups)
