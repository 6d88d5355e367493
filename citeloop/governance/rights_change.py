"""Changes of rights: who may read or own a corpus, and who holds a key. Each leaves one row in the audit log.

What keeps the rights (the knowledge store, the key file) tells each change before it commits it, and undoes it when
that raises. So no change is without its row; a row without its change means that the process died in between.
"""

import uuid
from collections.abc import Callable
from typing import Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from citeloop.governance.audit import AuditLog


class CorpusChange(TypedDict):
    """A change of a corpus. What changed nothing, as a second grant to the same user, is none."""

    change: Literal["granted", "revoked", "owner", "deleted"]
    corpus: str
    principals: NotRequired[list[str]]
    """Those who may read now, or no more, or the one who owns it now."""
    by: str
    """Id of the user who did."""


class KeyChange(TypedDict):
    """A change of an API key."""

    change: Literal["key_created", "key_revoked"]
    key: str
    """Its id; the secret is nowhere."""
    user: str
    groups: list[str]
    by: str
    """Id of the user who did."""


RightsChange: TypeAlias = CorpusChange | KeyChange
OnRightsChange: TypeAlias = Callable[[RightsChange], None]
"""Called before a change is committed. Blocks until it is recorded; what it raises undoes the change."""


def record_in(audit: AuditLog) -> OnRightsChange:
    """What writes a row of its own for each change, under a request id of its own."""

    def record(change: RightsChange) -> None:
        audit.append(str(uuid.uuid4()), "rights", dict(change))

    return record


def unrecorded(_: RightsChange) -> None:
    """Keep no record."""
