"""Who may open which corpus. Asked by the knowledge store each time a corpus is opened, and nowhere else."""

from typing import Protocol

from citeloop.state.models import UserContext


class AccessPolicy(Protocol):
    """Decides on one corpus for one caller. Must be cheap: it runs in every node that reads."""

    def may_read(self, caller: UserContext, corpus_name: str, owner: str) -> bool:
        """Whether ``caller`` may search the corpus and read its text."""

    def may_write(self, caller: UserContext, corpus_name: str, owner: str) -> bool:
        """Whether ``caller`` may add, replace and remove its documents."""


class LocalSingleUser:
    """The policy of an embedded engine and of the command line: whoever may read the files may read the corpora."""

    def may_read(self, caller: UserContext, corpus_name: str, owner: str) -> bool:
        """Always."""
        return True

    def may_write(self, caller: UserContext, corpus_name: str, owner: str) -> bool:
        """Always."""
        return True
