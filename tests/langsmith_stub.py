"""A small real HTTP server that takes LangSmith's batches of runs, so that tests see what a trace tells."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

Run = dict[str, Any]
"""A run as posted: id, parent_run_id, name, run_type, inputs, outputs, tags, extra["metadata"] ..."""

_INFO: dict[str, object] = {
    "batch_ingest_config": {
        "use_multipart_endpoint": False,  # asks the client for plain JSON
        "size_limit": 100,
        "size_limit_bytes": 20_000_000,
        "scale_up_nthreads_limit": 1,
        "scale_up_qsize_trigger": 1000,
        "scale_down_nempty_trigger": 4,
    }
}


@dataclass
class LangSmithStub:
    """Keeps each run by its id, what was posted and what was patched in later; a context manager."""

    runs: dict[str, Run] = field(default_factory=dict)
    bodies: list[bytes] = field(default_factory=list)
    """Every body received, as it came."""
    _lock: Lock = field(default_factory=Lock)

    def __enter__(self) -> "LangSmithStub":
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self._server.block_on_close = False  # the client keeps its connection open
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """What goes into LANGSMITH_ENDPOINT."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def take(self, body: bytes) -> None:
        """Keep a batch: a patch completes its run, and never takes away what was posted."""
        batch = json.loads(body)
        with self._lock:
            self.bodies.append(body)
            for run in [*batch.get("post", ()), *batch.get("patch", ())]:
                told = {key: value for key, value in run.items() if value is not None}
                self.runs[run["id"]] = {**self.runs.get(run["id"], {}), **told}

    def trees(self) -> Iterator[tuple[Run, list[Run]]]:
        """Each root with the runs under it, at any depth, in the order in which they started."""
        in_order = sorted(self.runs.values(), key=lambda run: run["dotted_order"])
        for root in (run for run in in_order if "parent_run_id" not in run):
            yield root, [run for run in in_order if run["trace_id"] == root["id"] and run is not root]


def _handler_for(stub: LangSmithStub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send(_INFO)

        def do_POST(self) -> None:
            stub.take(self.rfile.read(int(self.headers["Content-Length"])))
            self._send({})

        def _send(self, payload: dict[str, object]) -> None:
            body = json.dumps(payload).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
