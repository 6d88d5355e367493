"""The SQLite checkpoint saver across a fork."""

import copy
import os
import signal
from pathlib import Path

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint

from citeloop.graph.checkpoints import ThreadedSqliteSaver, open_sqlite_checkpointer

THREAD = RunnableConfig(configurable={"thread_id": "t1", "checkpoint_ns": ""})


def put(saver: ThreadedSqliteSaver) -> str:
    checkpoint = empty_checkpoint()
    saver.put(THREAD, checkpoint, {}, {})
    return checkpoint["id"]


def newest(saver: ThreadedSqliteSaver) -> str:
    found = saver.get_tuple(THREAD)
    assert found is not None
    return str(found.checkpoint["id"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("is_copied", [False, True])  # langgraph copies the saver when it compiles under strict msgpack
def test_a_forked_child_reads_and_writes_by_a_connection_of_its_own(tmp_path: Path, is_copied: bool) -> None:
    opened = open_sqlite_checkpointer(tmp_path / "threads.db")
    saver = copy.copy(opened) if is_copied else opened
    del opened
    first, connection = put(saver), saver.conn
    with saver.lock:  # as another thread may hold it
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # a hang ends here
            is_right = saver.conn is not connection and newest(saver) == first and put(saver) == newest(saver)
            os._exit(0 if is_right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert newest(saver) > first, "the parent sees what the child wrote"
