"""The examples of docs/testing.md run as they stand, one after the other."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"


def test_the_examples_run() -> None:
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(examples) == 3
    exec(compile("\n".join(examples), str(PAGE), "exec"), {})
