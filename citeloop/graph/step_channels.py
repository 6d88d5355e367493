"""The state schema of a server that does not show its steps."""

from collections.abc import Sequence
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from langgraph.channels import BinaryOperatorAggregate, EphemeralValue, UntrackedValue
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from citeloop.state.reducers import union_by_key

KEPT = frozenset({"messages", "request", "checked_response", "review", "answer", "response"})
"""What a thread keeps all the same: the conversation, the turn's request, and checked text."""


class UntrackedUnion(UntrackedValue[dict[str, Any]]):
    """The fan-in of parallel branches (``union_by_key``), never checkpointed."""

    def __eq__(self, other: object) -> bool:
        """Nodes and routers name the kept schema in their hints: LangGraph asks whether their fan-in is this one."""
        return isinstance(other, UntrackedUnion | BinaryOperatorAggregate)

    def __hash__(self) -> int:
        return hash(type(self))

    def update(self, values: Sequence[Any]) -> bool:
        """Merge what the branches of a step wrote; an ``Overwrite`` replaces what is there."""
        held = {} if not self.is_available() else self.value
        for value in values:
            held = value.value if isinstance(value, Overwrite) else union_by_key(held, value)
        self.value = held
        return bool(values)


def without_steps(schema: type) -> type:
    """``schema`` with drafts, verdicts, passages and ranked lists in channels that are never checkpointed.

    Such a run cannot be resumed from its middle, only from the pause for review, which needs what is kept.
    """
    hints = get_type_hints(schema, include_extras=True)
    return TypedDict(schema.__name__, {key: _channel(key, hint) for key, hint in hints.items()})  # type: ignore[operator, no-any-return]


def _channel(key: str, hint: Any) -> Any:
    plain, *extras = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if key in KEPT or EphemeralValue in extras:
        return hint
    return Annotated[plain, UntrackedUnion(plain, guard=False) if union_by_key in extras else UntrackedValue(plain)]
