"""The examples of docs/streaming.md, each run against a real server and held to the output that stands below it."""

import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import pytest

from citeloop.models.onnx_embedder import OnnxEmbedder
from citeloop.state.models import UserContext
from tests.e2e.dev_server import REPOSITORY, dev_server
from tests.handbook import engine_over
from tests.openai_stub import OpenAIStub, StubReply

DOCUMENTED_URL = "http://127.0.0.1:2024"
ANSWER = "Up to 5 unused days carry over into the next year and lapse on 31 March. [1]"
"""What the model of the demo quotes; here a stub takes a second for it, so that there is something to cancel."""

_BLOCKS = re.compile(r"^```(?:python|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SETUP, *_PAIRS = _BLOCKS.findall((REPOSITORY / "docs" / "streaming.md").read_text("utf-8"))
EXAMPLES = list(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))


@pytest.fixture(scope="module")
def server_url(tmp_path_factory: pytest.TempPathFactory, onnx_embedder: OnnxEmbedder) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("examples")
    home = folder / "home"
    engine_over(home).indexer.index([REPOSITORY / "examples" / "handbook"], "handbook", UserContext())
    with (
        OpenAIStub([StubReply(ANSWER, delay_s=1)]) as model,
        dev_server(home, folder, OPENAI_BASE_URL=model.base_url) as server,
    ):
        yield server.url


def as_pattern(expected: str) -> str:
    """``...`` stands for anything."""
    return ".*".join(map(re.escape, expected.strip().split("...")))


@pytest.mark.parametrize(("code", "expected"), EXAMPLES)
def test_an_example_prints_what_the_page_says(server_url: str, code: str, expected: str) -> None:
    assert DOCUMENTED_URL in SETUP
    names: dict[str, Any] = {}
    exec(SETUP.replace(DOCUMENTED_URL, server_url), names)
    with names["client"], redirect_stdout(StringIO()) as printed:
        exec(code, names)
    told = "\n".join(line.rstrip() for line in printed.getvalue().strip().splitlines())
    assert re.fullmatch(as_pattern(expected), told, re.DOTALL), told


@pytest.mark.parametrize("mode", ["values", "updates", "messages", "messages-tuple", "custom"])
def test_each_mode_has_an_example(mode: str) -> None:
    assert [code for code, _ in EXAMPLES if f'stream_mode="{mode}"' in code]
