"""A correction round: the sources cited for what they do not say leave the context."""

from typing_extensions import TypedDict

from citeloop.state.graph_state import Passage, QueryState


class Dropped(TypedDict):
    """The context without them, numbered anew."""

    round: int
    hop: int
    corrections_tried: list[str]
    excluded_ids: list[str]
    passages: list[Passage]


async def drop_invalid_sources(state: QueryState) -> Dropped:
    """Drop the chunks of invalid citations for the rest of this turn (ADR-031: over 30% invalid, regenerate)."""
    verdict = state["verdict"]
    assert verdict is not None, "a correction follows a verdict"
    invalid = set(verdict["invalid_chunk_ids"])
    kept = [passage for passage in state["passages"] if passage["chunk_id"] not in invalid]
    dropped = [passage for passage in state["passages"] if passage["chunk_id"] in invalid]
    invalid.update(member for passage in dropped for member in passage.get("members", ()))
    return Dropped(
        round=state["round"] + 1,
        hop=0,
        corrections_tried=[*state["corrections_tried"], "drop"],
        excluded_ids=[*state["excluded_ids"], *sorted(invalid)],
        passages=[{**passage, "number": number} for number, passage in enumerate(kept, start=1)],
    )
