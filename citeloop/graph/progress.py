"""What a run tells of its progress: one custom stream event a node, with counts and milliseconds, never with text."""

from collections.abc import Callable, Iterator, Mapping, Sized
from typing import Any, Literal

from typing_extensions import TypedDict

from citeloop.state.graph_state import Verdict
from citeloop.state.models import AnswerClaim
from citeloop.state.stream_events import ClaimChecked, claim_checked

Update = Mapping[str, Any]


class Progress(TypedDict):
    """A custom stream event: ``node`` has done its part in ``milliseconds``."""

    event: Literal["progress"]
    node: str
    milliseconds: float
    counts: dict[str, int]
    text: str
    """The same for a person to read, in one line."""


def progress_of(node: str, state: Any, update: Any, milliseconds: float) -> Progress:
    """The event of a node that was called with ``state`` and returned ``update``."""
    counts = _COUNTS[node](update) if node in _COUNTS and isinstance(update, Mapping) else {}
    counts |= _OF_ALL[node](state) if node in _OF_ALL else {}
    where = f" {state['corpus']}" if node in ("search_corpus", "scan_shard") else ""
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    text = f"{node.replace('_', ' ')}{where}: {told + ', ' if told else ''}{milliseconds:.0f} ms"
    return Progress(event="progress", node=node, milliseconds=round(milliseconds, 3), counts=counts, text=text)


_OF_ALL: Mapping[str, Callable[[Any], dict[str, int]]] = {
    "scan_shard": lambda task: {"rows": task["rows"], "total": task["total_rows"]},
    "map_group": lambda task: {"groups": 1, "total": task["groups"]},
}
"""What a branch has done, and what all branches of its fan-out come to."""


def verdicts_of(node: str, state: Any, update: Any) -> Iterator[ClaimChecked]:
    """The events of the claims that ``node`` has checked, unless they were told while the draft was written."""
    if node not in _CHECKS or state["draft"].get("watched"):
        return
    checked = _CHECKS[node](update)
    for number, claim in enumerate(checked.get("claims", ()), start=1):
        yield claim_checked(AnswerClaim.model_validate(claim), number, node=node, round=state.get("round", 0))


_CHECKS: Mapping[str, Callable[[Update], Verdict]] = {
    "validate_citations": lambda update: update["verdict"],
    "check_citations": lambda update: update["best"]["verdict"],
}


def _sizes(**keys: str) -> Callable[[Update], dict[str, int]]:
    return lambda update: {name: len(update[key]) for name, key in keys.items() if isinstance(update.get(key), Sized)}


def _searched(update: Update) -> dict[str, int]:
    hits = {hit[0] for ranked in update["ranked_lists"].values() for hit in ranked["hits"]}
    return {"hits": len(hits), "failures": len(update["search_failures"])}


def _found(update: Update) -> dict[str, int]:
    branches = update["found"].values()
    return {
        "hits": sum(len(branch["passages"]) for branch in branches),
        "failures": sum(bool(branch["error"]) for branch in branches),
    }


def _researched(update: Update) -> dict[str, int]:
    results = update["answered"].values()
    return {
        "passages": sum(len(result["passages"]) for result in results),
        "found": sum(not result["verdict"]["refused"] for result in results),
        "failures": len(update["search_failures"]),
    }


def _mapped(update: Update) -> dict[str, int]:
    results = update["mapped"].values()
    return {
        "passages": sum(len(result["candidates"]) for result in results),
        "found": sum(bool(result["passages"]) for result in results),
        "failures": len(update["search_failures"]),
    }


def _generated(update: Update) -> dict[str, int]:
    return {"tokens": update["draft"]["tokens"]} if "draft" in update else {}


def _validated(update: Update) -> dict[str, int]:
    verdict = update["verdict"]
    return {"citations": len(verdict["citations"]), "unsupported": len(verdict["invalid_chunk_ids"])}


_COUNTS: Mapping[str, Callable[[Update], dict[str, int]]] = {
    "rewrite_query": _sizes(queries="queries"),
    "ask_step_back": _sizes(queries="queries"),
    "ask_follow_up": _sizes(queries="queries"),
    "check_coverage": lambda update: {"open": len(update["coverage"]["open"])},
    "grade_passages": lambda update: {"good": update["grading"]["good"]},
    "correct_retrieval": _sizes(queries="queries"),
    "rerank_follow_ups": _sizes(candidates="candidates"),
    "decompose_question": _sizes(queries="queries"),
    "research_sub_question": _researched,
    "search_documents": _found,
    "fuse_documents": _sizes(passages="passages"),
    "pair_documents": _sizes(passages="passages"),
    "gather_sub_answers": _sizes(answers="sub_answers"),
    "combine_sub_answers": _generated,
    "plan_searches": _sizes(searches="search_tasks"),
    "search_corpus": _searched,
    "plan_scan": _sizes(shards="search_tasks"),
    "scan_shard": _searched,
    "fuse_results": _sizes(candidates="candidates"),
    "rerank_chunks": _sizes(candidates="candidates"),
    "walk_entities": _sizes(candidates="candidates", failures="search_failures"),
    "diversify_chunks": _sizes(candidates="candidates"),
    "group_passages": lambda update: {"groups": len(update["map_plan"]["tasks"])},
    "map_group": _mapped,
    "gather_partial_answers": _sizes(answers="partial_answers", passages="passages"),
    "assemble_context": _sizes(passages="passages"),
    "generate_answer": _generated,
    "validate_citations": _validated,
    "drop_invalid_sources": _sizes(passages="passages"),
    "expand_context": _sizes(candidates="candidates"),
}
