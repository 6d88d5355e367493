"""The README shows the graph as it is compiled."""

import re
from pathlib import Path

from citeloop.engine import RAGQueryEngine

README = Path(__file__).parents[2] / "README.md"


def test_the_picture_is_true(engine: RAGQueryEngine) -> None:
    drawn = engine.graph.get_graph(xray=True).draw_mermaid().strip()
    block = r"<!-- graph: begin -->\n```mermaid\n(.*?)\n```\n<!-- graph: end -->"
    assert re.findall(block, README.read_text("utf-8"), re.DOTALL) == [drawn]
