"""The query graph as a node of its own: the parent's state has the few keys through which the two talk."""

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from citeloop import RAGQueryEngine
from citeloop.state.graph_state import QueryInput
from examples.embedding.ticket import Ticket, to_query, to_reply


class DeskState(Ticket, total=False):
    """The ticket, and what goes into and comes out of the query graph under the names it knows."""

    question: str
    access_reason: str
    response: dict[str, Any]


Desk = CompiledStateGraph[DeskState, None, Ticket, Ticket]


def build_desk(engine: RAGQueryEngine, checkpointer: Checkpointer = None) -> Desk:
    """A desk with the query graph between two nodes of its own; sync and async alike.

    ``read_ticket`` writes every key that the query graph reads, each time: a key that it left out would keep the last
    ticket's value on a thread.
    """

    def read_ticket(state: DeskState) -> QueryInput:
        return to_query(state)

    def write_reply(state: DeskState) -> Ticket:
        return to_reply(state["response"])

    desk = StateGraph(DeskState, input_schema=Ticket, output_schema=Ticket)
    desk.add_node("read_ticket", read_ticket)
    desk.add_node("query", engine.graph)
    desk.add_node("write_reply", write_reply)
    desk.add_edge(START, "read_ticket")
    desk.add_edge("read_ticket", "query")
    desk.add_edge("query", "write_reply")
    desk.add_edge("write_reply", END)
    return desk.compile(checkpointer=checkpointer, name="desk")
