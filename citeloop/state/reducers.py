"""How writes of parallel branches meet in one key. Pure, idempotent, and the same whichever branch ends first."""

from typing import TypeVar

Value = TypeVar("Value")


def union_by_key(left: dict[str, Value] | None, right: dict[str, Value] | None) -> dict[str, Value]:
    """Union of two keyed fan-ins in key order; where both hold a key, the later write stands.

    Branches write under keys of their own (round, query, corpus), so two of them never meet in one key, and a subgraph
    that hands the same entries over twice changes nothing.
    """
    merged = {**(left or {}), **(right or {})}
    return {key: merged[key] for key in sorted(merged)}
