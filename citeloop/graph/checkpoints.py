"""A SQLite checkpoint saver that works from every event loop."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Self

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.sqlite import SqliteSaver

from citeloop.fork import call_after_fork


class ThreadedSqliteSaver(SqliteSaver):
    """``SqliteSaver`` whose async methods run the synchronous ones in a thread.

    The stock synchronous saver fails ``ainvoke`` and the stock asynchronous one is bound to the loop it was opened on;
    a graph with a synchronous face on a loop of its own is called from both sides. A forked child gets a connection of
    its own to the same file; a database in memory is the child's copy from then on.
    """

    def __init__(self, conn: sqlite3.Connection, *, serde: SerializerProtocol | None = None) -> None:
        super().__init__(conn, serde=serde)
        self._file: str = conn.execute("PRAGMA database_list").fetchone()[2]
        self._of_parent: tuple[sqlite3.Connection, ...] = ()
        call_after_fork(self._reconnect)

    def __copy__(self) -> Self:
        """What ``with_allowlist`` makes, in each graph that is compiled under strict msgpack."""
        clone = type(self).__new__(type(self))
        clone.__dict__.update(self.__dict__)
        call_after_fork(clone._reconnect)
        return clone

    def _reconnect(self) -> None:
        self.lock = Lock()  # the parent's may be held by a thread that the child does not have
        if self._file:  # SQLite forbids using, and even closing, a connection of the parent
            self._of_parent = (*self._of_parent, self.conn)
            self.conn = _connect(self._file)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """See ``SqliteSaver.get_tuple``."""
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """See ``SqliteSaver.list``."""
        for found in await asyncio.to_thread(
            lambda: list(self.list(config, filter=filter, before=before, limit=limit))
        ):
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """See ``SqliteSaver.put``."""
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """See ``SqliteSaver.put_writes``."""
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """See ``SqliteSaver.delete_thread``."""
        await asyncio.to_thread(self.delete_thread, thread_id)


def open_sqlite_checkpointer(path: Path) -> ThreadedSqliteSaver:
    """A saver over the SQLite file ``path``, made if absent: pass it to ``open_engine(checkpointer=)``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return ThreadedSqliteSaver(_connect(path))


def _connect(path: Path | str) -> sqlite3.Connection:
    return sqlite3.connect(path, check_same_thread=False)
