"""The typed state of the graphs: plain JSON-able values only."""

# Everything here must survive a checkpoint and be editable by hand in Studio: no models, no vectors, no clients.
from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.channels import EphemeralValue
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict


class Passage(TypedDict):
    """A chunk that stands before the generator under a number of its own."""

    number: int
    chunk_id: str
    corpus: str
    document_id: str
    title: str
    uri: str
    heading_path: list[str]
    text: str
    start: int
    end: int
    score: float
