"""Who comes in and how it ended: a reason where one is required, and both audit rows of a run."""

import asyncio
import uuid
from collections.abc import Mapping
from typing import Any

from citeloop.errors import MissingReason
from citeloop.governance.audit import AuditLog
from citeloop.governance.run_record import RunRecord
from citeloop.state.models import UserContext
from citeloop.workers import WorkerPool


class Door:
    """Writes a run's asked row before anything is read, and its ended row before anything leaves.

    No row, no search: a run that goes on from a checkpoint, or jumps past ``authorize``, gets its asked row from the
    first node that it reaches (``admit_resumed``), under the same rule about reasons.
    """

    def __init__(
        self, audit: AuditLog, workers: WorkerPool, *, ask_needs_reason: bool = False, audits_always: bool = True
    ) -> None:
        """``audits_always``: whether runs are audited whatever their own ``audit_all_queries`` says."""
        self._audit = audit
        self._workers = workers
        self._ask_needs_reason = ask_needs_reason
        self._audits_always = audits_always

    def require_reason(self, command: str, reason: str) -> None:
        """Raise ``MissingReason`` where the command, or the policy, demands one and it is blank."""
        if not reason.strip() and (command != "ask" or self._ask_needs_reason):
            raise MissingReason("access_reason (--reason) is required: say why you ask, for example 'ticket 4711'")

    async def admit(
        self, record: RunRecord, caller: UserContext, request: Mapping[str, Any], *, wants_audit: bool
    ) -> None:
        """Let a new question in: its asked row is durable on return. Raises ``StoreBusy`` or ``StoreCorrupt``."""
        record.admitted = True
        if self._audits_always or wants_audit:
            await self._write_asked(record, request["request_id"], _asked(caller, request))

    async def admit_resumed(self, record: RunRecord, caller: UserContext, state: Mapping[str, Any]) -> None:
        """Let a run in that did not pass ``authorize``; nothing to do for one that did. Raises as ``admit`` does."""
        async with record.lock:  # branches of a fan-out may be the first nodes
            if record.admitted:
                return
            request = state.get("request") or state
            self.require_reason(str(request.get("command")), str(request.get("access_reason") or ""))
            if self._audits_always:
                resumed = {"resumed": True, "continues": request.get("request_id")}
                await self._write_asked(record, str(uuid.uuid4()), {**_asked(caller, request), **resumed})
            record.admitted = True

    async def end(self, record: RunRecord, body: Mapping[str, Any]) -> None:
        """Write the ended row of an admitted run, once; durable on return."""
        if record.request_id is None or record.ended:
            return
        record.ended = True
        if record.asking is not None:  # a cancelled run may come here while its asked row is still on its way
            await asyncio.wait([record.asking])
        await asyncio.shield(self._workers.run(self._audit.append, record.request_id, "ended", dict(body)))

    async def _write_asked(self, record: RunRecord, request_id: str, body: dict[str, Any]) -> None:
        record.request_id = request_id  # before the row: a run cancelled while it is written gets its end
        record.asking = asyncio.ensure_future(self._workers.run(self._audit.append, request_id, "asked", body))
        try:
            await asyncio.shield(record.asking)
        except Exception:
            record.request_id = None
            raise


def _asked(caller: UserContext, request: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "user": caller.user_id,
        "command": request.get("command"),
        "question": request.get("question") or request.get("query"),
        "corpora": request.get("corpora"),
        "reason": request.get("access_reason"),
    }
