"""Work of the parser and the claim cutter over the length of an answer, in machine instructions (cachegrind).

    python -m benchmarks.parser_work [--lengths 4000 8000 16000 32000] [--readers whole] [--plot evals/parser_work.svg]

Prints one row a shape: instructions for each character at the least and the greatest length, and the slope of the
log-log line over all lengths (1 is linear). Needs ``valgrind``; without it, one line and exit code 2.
"""

import argparse
import gc
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from citeloop.verification.answer_text.citations import parse_citations
from citeloop.verification.answer_text.claim_stream import ClaimStream
from citeloop.verification.answer_text.claims import split_claims
from tests.hostile_answers import BOMBS

KNOWN = {"1": 1, "2": 2}
PIECE = 64
"""Characters of a piece of the stream."""
SHAPES = (("", "Leave is 25 days a year, of which five carry over [1]. ", ""), *BOMBS)
"""Begin, unit to repeat, end; the first is an ordinary answer."""


def read_whole(answer: str) -> None:
    split_claims(parse_citations(answer, KNOWN))


def read_in_pieces(answer: str) -> None:
    stream = ClaimStream(KNOWN)
    for at in range(0, len(answer), PIECE):
        stream.feed(answer[at : at + PIECE])
    stream.close()


READERS: dict[str, Callable[[str], None]] = {"whole": read_whole, "in pieces": read_in_pieces}


def make_answer(shape: tuple[str, str, str], length: int) -> str:
    """About ``length`` characters; none for 0."""
    before, unit, after = shape
    return before + unit * (length // len(unit)) + after if length else ""


def measure_here(reader: str, lengths: Sequence[int]) -> None:
    """Read every shape at each length in a fork of its own, which counts on from here; prints the forks' pids."""
    gc.disable()
    for shape in SHAPES:
        READERS[reader](make_answer(shape, 200))  # what is made once is made before the forks
        print(*(_fork(reader, make_answer(shape, length)) for length in (0, *lengths)), flush=True)


def _fork(reader: str, answer: str) -> int:
    pid = os.fork()
    if not pid:
        READERS[reader](answer)
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        sys.exit(1)
    return pid


def count(reader: str, lengths: Sequence[int]) -> Iterator[list[int]]:
    """For each shape the instructions at each length, those of an empty answer subtracted."""
    with tempfile.TemporaryDirectory() as folder:
        valgrind = ["valgrind", "-q", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={folder}/%p"]
        child = [sys.executable, "-m", "benchmarks.parser_work", "--lengths", *map(str, lengths), "--measure", reader]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        with subprocess.Popen(
            [*valgrind, *child], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            for line in process.stdout or ():
                empty, *counts = (_total(Path(folder, pid)) for pid in line.split())
                yield [counted - empty for counted in counts]
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, process.args)


def _total(report: Path) -> int:
    return int(report.read_text(errors="replace").rpartition("summary:")[2])


def slope(lengths: Sequence[int], counts: Sequence[int]) -> float:
    """The exponent of the power law that fits best."""
    return float(np.polyfit(np.log(lengths), np.log(counts), 1)[0])


def draw(path: Path, lengths: Sequence[int], rows: Sequence[tuple[str, int, list[int]]]) -> None:
    """Ordinary answers in colour, repeat bombs in grey."""
    from benchmarks.plots import plot

    with plot(path) as axes:
        for reader, shape, counts in rows:
            style = "-" if reader == "whole" else "--"
            colour, label = ("grey", None) if shape else ("C0", f"ordinary answer, {reader}")
            axes.loglog(lengths, counts, style, color=colour, label=label, linewidth=1 if shape else 2)
        axes.set(
            xlabel="characters", ylabel="instructions", title="Work of parser and claim cutter (grey: repeat bombs)"
        )
        axes.legend()


def main() -> None:
    parser = argparse.ArgumentParser(description="Counted work of the parser and the claim cutter.")
    parser.add_argument("--lengths", type=int, nargs="+", default=[4_000, 8_000, 16_000, 32_000])
    parser.add_argument("--readers", nargs="+", choices=list(READERS), default=list(READERS))
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure_here(options.measure, options.lengths)
        return
    if shutil.which("valgrind") is None:
        print("parser_work: valgrind is not installed; it counts the instructions", file=sys.stderr)
        sys.exit(2)
    rows = []
    for reader in options.readers:
        for shape, counts in enumerate(count(reader, options.lengths)):
            rows.append((reader, shape, counts))
            each = [counted / length for counted, length in zip(counts, options.lengths, strict=True)]
            exponent = slope(options.lengths, counts)
            print(f"| {reader} | `{SHAPES[shape]!r}` | {each[0]:,.0f} | {each[-1]:,.0f} | {exponent:.2f} |", flush=True)
    if options.plot:
        draw(options.plot, options.lengths, rows)


if __name__ == "__main__":
    main()
