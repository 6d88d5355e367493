"""The LangGraph server's ``Auth``, named in ``langgraph.json``. Importing this reads no settings and opens nothing."""

from typing import Any

from langgraph_sdk import Auth
from starlette.requests import HTTPConnection

from citeloop.errors import CredentialsRefused, IdentityNotSetUp
from citeloop.server import ownership
from citeloop.server.admission import admission

auth = Auth()


@auth.authenticate
async def authenticate(scope: dict[str, Any]) -> dict[str, Any]:
    """The user of a request, HTTP or WebSocket: the identity that every rule, node and store access goes by.

    Of the credentials nothing is kept: what is returned travels with the run and is stored with it.
    """
    connection = HTTPConnection(scope)
    client = connection.client.host if connection.client else None
    try:
        caller = await (await admission()).caller(client, connection.headers)
    except CredentialsRefused as refused:
        raise Auth.exceptions.HTTPException(status_code=401, detail=str(refused)) from None
    except IdentityNotSetUp as refused:
        raise Auth.exceptions.HTTPException(status_code=403, detail=str(refused)) from None
    return {
        "identity": caller.user_id,
        "display_name": caller.user_id,
        "is_authenticated": True,
        "permissions": [],
        "groups": list(caller.groups),
    }


auth.on.threads(ownership.own)
auth.on.threads.create(ownership.create_thread)
auth.on.threads.update(ownership.update_thread)
auth.on.threads.create_run(ownership.create_run)
auth.on.crons(ownership.own)
auth.on.crons.create(ownership.write_cron)
auth.on.crons.update(ownership.write_cron)
auth.on.assistants(ownership.own)
auth.on.assistants.read(ownership.read_assistant)
auth.on.assistants.search(ownership.read_assistant)
auth.on.assistants.create(ownership.write_assistant)
auth.on.assistants.update(ownership.write_assistant)
auth.on.store(ownership.scope_items)
auth.on(ownership.deny)
