"""Chunks that follow each other in a document, as one."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

from citeloop.knowledge.corpus import Chunk

REACH = 200
"""Chunks before and after the one that was found to which a document is read."""


def join_chunks(found: Chunk, members: Sequence[Chunk]) -> Chunk:
    """``members`` (in reading order, without gaps but of white space and bare headings) as one, under ``found``'s id.

    ``text`` has the length of the document's ``[start, end)``, and each member stands at its true place in it; between
    two of them stand blank lines. The heading path is what they share.
    """
    pieces = [members[0].text]
    for before, after in pairwise(members):
        gap = after.start - before.end
        pieces += ["\n" * min(gap, 2) + " " * (gap - 2), after.text]
    return replace(
        found,
        text="".join(pieces),
        start=members[0].start,
        end=members[-1].end,
        heading_path=_shared([member.heading_path for member in members]),
    )


def _shared(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    alike = takewhile(lambda level: len(set(level)) == 1, zip(*paths, strict=False))
    return tuple(level[0] for level in alike)
