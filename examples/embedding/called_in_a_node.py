"""The query graph called inside a node: the two states never meet, the node maps between them."""

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from citeloop import RAGQueryEngine
from examples.embedding.ticket import Ticket, to_query, to_reply

Desk = CompiledStateGraph[Ticket, None, Ticket, Ticket]


def build_desk(engine: RAGQueryEngine, checkpointer: Checkpointer = None, *, blocking: bool = False) -> Desk:
    """A desk whose node ``answer_ticket`` asks the query graph.

    The node hands its ``config`` on: with it go the caller, the parent's checkpointer, its stream and its trace. An
    ``async`` node is cancelled with its parent, and has a parent of ``ainvoke`` and ``astream`` only; a ``blocking``
    one serves every face, and takes a thread while it waits.
    """

    async def answer_ticket(state: Ticket, config: RunnableConfig) -> Ticket:
        asked = await engine.graph.ainvoke(to_query(state), config)
        return to_reply(asked["response"])

    def answer_ticket_blocking(state: Ticket, config: RunnableConfig) -> Ticket:
        asked = engine.graph.invoke(to_query(state), config)
        return to_reply(asked["response"])

    desk = StateGraph(Ticket)
    desk.add_node("answer_ticket", answer_ticket_blocking if blocking else answer_ticket)
    desk.add_edge(START, "answer_ticket")
    desk.add_edge("answer_ticket", END)
    return desk.compile(checkpointer=checkpointer, name="desk")
