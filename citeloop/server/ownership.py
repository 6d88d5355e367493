"""What is whose on the server: threads and their runs, schedules, assistants and store items belong to their user.

Another user's thing answers as a missing one. Each rule is called by the server before it acts; it may change the
server's ``value`` in place, and returns the condition on metadata under which the thing may be touched.
"""

from typing import Any

from langgraph_sdk import Auth

from citeloop.errors import CredentialsRefused
from citeloop.governance.identity import LOCAL_USER_ID
from citeloop.server.admission import admission
from citeloop.server.run_rules import check_hidden_steps, check_run_settings, check_settings, steps_hidden

Context = Auth.types.AuthContext
Filter = dict[str, Any]

OWNER = "owner"
_SYSTEM = {"created_by": "system"}
"""How the server marks the assistants that it makes of the graphs."""


async def own(ctx: Context, value: Any) -> Filter:
    """Read, search, delete: one's own."""
    return _owned(ctx)


async def create_thread(ctx: Context, value: Any) -> Filter:
    """A new thread belongs to its maker, whatever its metadata say."""
    _stamp(ctx, value)
    return _owned(ctx)


async def update_thread(ctx: Context, value: Any) -> Filter:
    """New metadata, a cancelled run, or (told by neither being there) a new state, which changes the steps of a run."""
    if "metadata" in value:
        _stamp(ctx, value)
    elif not await (await admission()).steps_are_exposed():
        raise steps_hidden("a change of the state")
    return _owned(ctx)


async def create_run(ctx: Context, value: Any) -> Filter:
    """A run on one's own thread, or on a new one."""
    await _require_admitted(ctx)
    run = value["kwargs"]
    check_run_settings(run, value["assistant_id"])
    await _check_steps(run)
    _stamp(ctx, value)
    return _owned(ctx)


async def write_cron(ctx: Context, value: Any) -> Filter:
    """A schedule, whose runs are those of its maker: no payload names another."""
    if payload := value.get("payload"):
        check_settings(payload.get("context"), payload.get("config"), payload.get("assistant_id"))
        await _check_steps(payload)
        configurable = (payload.get("config") or {}).get("configurable") or {}
        for key in [key for key in configurable if key.startswith("langgraph_auth_")]:
            del configurable[key]
    if value.get("metadata") is not None:
        _stamp(ctx, value)
    return _owned(ctx)


async def read_assistant(ctx: Context, value: Any) -> Filter:
    """One's own, and those that the server made of the graphs."""
    return {"$or": [_owned(ctx), _SYSTEM]}


async def write_assistant(ctx: Context, value: Any) -> Filter:
    """One's own, with settings that exist; none passes for the server's."""
    check_settings(value.get("context"), value.get("config"), value.get("graph_id"))
    if value.get("metadata") is not None:
        value["metadata"].pop("created_by", None)
        _stamp(ctx, value)
    return _owned(ctx)


async def scope_items(ctx: Context, value: Any) -> None:
    """Store items live below their user's name, which is put in front of a namespace that does not start with it."""
    label = ctx.user.identity.replace("~", "~7E").replace(".", "~2E")  # labels hold no dots
    namespace = tuple(value.get("namespace") or ())
    value["namespace"] = namespace if namespace[:1] == (label,) else (label, *namespace)


async def deny(ctx: Context, value: Any) -> bool:
    """What no rule names is refused."""
    return False


async def _require_admitted(ctx: Context) -> None:
    """Schedules outlive requests: those of the local user end when callers come to be authenticated."""
    if ctx.user.identity == LOCAL_USER_ID and await (await admission()).requires_credentials():
        raise Auth.exceptions.HTTPException(status_code=401, detail=str(CredentialsRefused()))


async def _check_steps(run: dict[str, Any]) -> None:
    if not await (await admission()).steps_are_exposed():
        check_hidden_steps(run)


def _owned(ctx: Context) -> Filter:
    return {OWNER: ctx.user.identity}


def _stamp(ctx: Context, value: Any) -> None:
    metadata = value.get("metadata")
    if metadata is None:
        metadata = value["metadata"] = {}
    metadata[OWNER] = ctx.user.identity
