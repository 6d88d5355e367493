"""A small real HTTP server that speaks OpenAI's chat completions, so that tests see what goes over the wire."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any


@dataclass(frozen=True)
class StubReply:
    """One scripted reply. ``body`` replaces the chat completion by raw bytes; ``drop_after`` cuts a stream short."""

    content: str | None = "Stub answer [1]."
    status: int = 200
    delay_s: float = 0.0
    body: bytes | None = None
    drop_after: int | None = None


@dataclass(frozen=True)
class StubRequest:
    """What the client sent."""

    path: str
    authorization: str
    payload: dict[str, Any]

    @property
    def last_message(self) -> str:
        """The text of the last message of the chat."""
        return str(self.payload["messages"][-1]["content"])


@dataclass
class OpenAIStub:
    """Replies in the order given, the last one for ever, or by ``answer``; records each request. A context manager."""

    replies: list[StubReply] = field(default_factory=lambda: [StubReply()])
    answer: Callable[[str], str] | None = None
    """From the text of a request's last message to the reply's content."""
    requests: list[StubRequest] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def __enter__(self) -> "OpenAIStub":
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self._server.block_on_close = False  # a client may keep its connection open
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def base_url(self) -> str:
        """What goes into OPENAI_BASE_URL."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def reply_with(self, *replies: StubReply) -> None:
        """Replace the script."""
        self.replies = list(replies)

    def take(self, request: StubRequest) -> StubReply:
        """Record the request and give its reply."""
        with self._lock:
            self.requests.append(request)
            if self.answer is not None:
                return StubReply(self.answer(request.last_message))
            return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


def _handler_for(stub: OpenAIStub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = stub.take(StubRequest(self.path, self.headers.get("Authorization", ""), payload))
            time.sleep(reply.delay_s)
            try:
                self._send(reply, payload)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client gave up waiting

        def _send(self, reply: StubReply, payload: dict[str, object]) -> None:
            if reply.body is not None or reply.status != 200:
                self._send_whole(reply.status, reply.body or b'{"error": {"message": "stub error"}}')
            elif payload.get("stream"):
                self._send_events(_events(reply, payload), reply.drop_after)
            else:
                self._send_whole(200, json.dumps(_completion(reply)).encode())

        def _send_whole(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _send_events(self, events: Iterator[str], drop_after: int | None) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for number, event in enumerate(events):
                if number == drop_after:
                    self.close_connection = True
                    return
                data = f"data: {event}\n\n".encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return Handler


_ENVELOPE: dict[str, object] = {"id": "stub", "created": 0, "model": "stub"}
_USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def _completion(reply: StubReply) -> dict[str, object]:
    message = {"role": "assistant", "content": reply.content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return _ENVELOPE | {"object": "chat.completion", "choices": [choice], "usage": _USAGE}


def _events(reply: StubReply, payload: dict[str, object]) -> Iterator[str]:
    for word in (reply.content or "").split(" "):
        yield _chunk([{"index": 0, "delta": {"role": "assistant", "content": word + " "}}])
    yield _chunk([{"index": 0, "delta": {}, "finish_reason": "stop"}])
    options = payload.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage"):
        yield _chunk([], _USAGE)
    yield "[DONE]"


def _chunk(choices: list[dict[str, object]], usage: dict[str, int] | None = None) -> str:
    return json.dumps(_ENVELOPE | {"object": "chat.completion.chunk", "choices": choices, "usage": usage})
