"""Who may open which corpus. Asked by the knowledge store each time a corpus is opened, and nowhere else.

Rights are held by *principals*, strings: ``user:<id>``, ``group:<name>`` and ``everyone``. A corpus belongs to a user,
who alone may write it, and is open for reading to the principals it was granted to. A policy says which principals a
caller is; the store compares them in SQL, so that the cost does not grow with the corpora that a caller may not see.
"""

from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from citeloop.errors import InvalidRequest
from citeloop.state.models import UserContext
from citeloop.text.names import is_one_line

Principals: TypeAlias = frozenset[str] | None
"""What a caller is; ``None``: whoever may read and write every corpus."""
EVERYONE: Final = "everyone"

_LOCAL_USER_ID: Final = UserContext().user_id


class AccessPolicy(Protocol):
    """Says what a caller is. Must be cheap: it runs in every node that reads."""

    def principals(self, caller: UserContext) -> Principals:
        """The principals whose rights ``caller`` has; ``None``: all rights, to every corpus."""


class LocalSingleUser:
    """Whoever may read the files may read and write the corpora: for programs that see to access themselves."""

    def principals(self, caller: UserContext) -> None:
        """All rights, whoever asks."""


@dataclass(frozen=True, slots=True)
class OwnersAndGrants:
    """A caller is the user, the groups that the identity provider names, and everyone."""

    local_user_is_trusted: bool = True
    """Whether a caller without an identity has all rights, as on the command line and in an embedded engine. To be off
    on a server that authenticates its callers: such a caller then has no rights but those of everyone."""

    def principals(self, caller: UserContext) -> Principals:
        """See ``AccessPolicy``."""
        if caller.user_id != _LOCAL_USER_ID:
            return principals_of(caller)
        return None if self.local_user_is_trusted else frozenset({EVERYONE})


def principals_of(caller: UserContext) -> frozenset[str]:
    """The caller's own principals.

    One that nothing can be granted to is left out, and must be: SQLite would read ``user:ann\\0x`` as ``user:ann``.
    """
    names = [("user", caller.user_id), *(("group", group) for group in caller.groups)]
    return frozenset({EVERYONE, *(f"{kind}:{name}" for kind, name in names if _is_plain(name))})


def parse_principal(text: str) -> str:
    """``text``, if it is a principal. Names are compared letter by letter with what the identity provider sends.

    Raises:
        InvalidRequest: it is neither ``user:<id>`` nor ``group:<name>`` nor ``everyone``, or the name is blank, has
            space around it, or holds control characters.
    """
    kind, _, name = text.partition(":")
    if text != EVERYONE and (kind not in ("user", "group") or not _is_plain(name)):
        raise InvalidRequest(
            f"{text!r} names nobody; write user:<id>, group:<name> or {EVERYONE}, "
            "without space around the name and without control characters"
        )
    return text


def may_own(caller: UserContext, principals: Principals) -> bool:
    """Whether the caller can be the owner of a corpus: it has to be somebody."""
    return principals is None or f"user:{caller.user_id}" in principals


def _is_plain(name: str) -> bool:
    return bool(name) and name == name.strip() and is_one_line(name)
