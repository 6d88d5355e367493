"""Answers a support ticket and shows each step of both graphs: ``python -m examples.embedding --help``."""

import argparse
from collections.abc import Iterator
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, Interrupt

from citeloop import RAGConfig, UserContext, open_engine
from citeloop.governance.identity import CALLER_KEY
from examples.embedding import added_as_a_node, called_in_a_node

TICKET = "Hello, I could not take all my leave this year. How many unused days of leave carry over? Regards, Jo"


def main() -> None:
    """Read the ticket, stream the steps, let a person decide where one is asked for, print the reply."""
    options = read_options()
    engine = open_engine(config=RAGConfig(review="always" if options.review else "off"))
    checkpointer = InMemorySaver()  # the desk's own: the query graph keeps its steps there as well
    desk: Any
    if options.form == "call":
        desk = called_in_a_node.build_desk(engine, checkpointer, blocking=True)
    else:
        desk = added_as_a_node.build_desk(engine, checkpointer)
    configurable: dict[str, Any] = {"thread_id": "ticket-1"}
    if options.user:
        configurable[CALLER_KEY] = UserContext(user_id=options.user)
    config = RunnableConfig(configurable=configurable)

    to_do: Any = {"ticket": options.ticket}
    while to_do:
        waiting = list(show_steps(desk, to_do, config))
        to_do = Command(resume=decide(waiting[0])) if waiting else None
    print_reply(desk.get_state(config).values)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.embedding", description="Answer a support ticket.")
    parser.add_argument("ticket", nargs="?", default=TICKET)
    parser.add_argument("--form", choices=("call", "node"), default="call", help="how the query graph is embedded")
    parser.add_argument("--user", help="whose corpora are searched; without one, those of the local user: all")
    parser.add_argument("--review", action="store_true", help="hold the answer back until you have approved it")
    return parser.parse_args()


def show_steps(desk: Any, to_do: Any, config: RunnableConfig) -> Iterator[Interrupt]:
    """Run the desk, print the path of each step, and give what waits for a person's decision."""
    for namespace, update in desk.stream(to_do, config, stream_mode="updates", subgraphs=True):
        for step in update:
            if step != "__interrupt__":
                print(" > ".join([*(graph.partition(":")[0] for graph in namespace), step]))
            elif not namespace:  # the query graph's own interrupt, as it comes out of the desk
                yield from update[step]


def decide(waiting: Interrupt) -> str:
    print(f"\n{waiting.value['answer']}\n({waiting.value['status']}, confidence {waiting.value['confidence']:.2f})")
    return input("approve or reject? ")


def print_reply(ticket: dict[str, Any]) -> None:
    print(f"\n{ticket['reply']}")
    print("Sources:", "; ".join(ticket["sources"]) or "none")
    print("A person should look at this ticket." if ticket["needs_a_person"] else "Answered.")


if __name__ == "__main__":
    main()
