"""``citeloop graph``."""

import click

from citeloop.settings import Settings


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print nodes and edges as JSON.")
@click.pass_obj
def graph(settings: Settings, as_json: bool) -> None:
    """Draw the query graph as Mermaid text, as it is compiled."""
    import json

    from citeloop.engine import open_engine

    drawn = open_engine(settings=settings).graph.get_graph(xray=True)
    click.echo(json.dumps(drawn.to_json(), indent=2) if as_json else drawn.draw_mermaid())
