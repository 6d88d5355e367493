"""How an answer came about, as tables: which queries were asked, and which of them pulled which document in."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from citeloop.state.models import RAGResponse, RetrievalStrategy, SourceReference

if TYPE_CHECKING:
    from rich.table import Table

_DOCUMENTS = 20
_ID_CHARACTERS = 8

Trace = Mapping[str, Any]


def print_explanation(response: RAGResponse) -> None:
    """Print the tables of ``response`` to stderr: stdout holds the answer alone, for whoever reads it from a pipe."""
    from rich.console import Console

    console, trace = Console(stderr=True), response.trace
    console.print(_queries(trace))
    for query in trace.get("dropped_queries", ()):
        console.print(f"not asked: {query['query']} ({query['reason']})", markup=False)
    if reason := trace.get("fallback"):
        console.print(f"the question alone, because: {reason}", markup=False)
    if response.strategy_used is RetrievalStrategy.STEP_BACK:
        console.print(_ranked_lists(response))
    console.print(_documents(response))
    if relations := trace.get("relations"):
        console.print(_relations(relations, _names(response)))
    if response.sub_answers:
        console.print(_sub_answers(response))


def _queries(trace: Trace) -> "Table":
    table = _table("Queries", "#", "Query", "Origin", "Found", "Failed")
    failures = {failure["query"]: failure["error"] for failure in trace.get("failures", ())}
    for number, (query, rows) in enumerate(_by_query(trace).items(), start=1):
        found = {hit["chunk_id"] for row in rows for hit in row["ranked"]}
        _add(table, f"q{number}", query, _origin(rows[0]), len(found), failures.get(query, ""))
    return table


def _documents(response: RAGResponse) -> "Table":
    """The best documents, with the rank that each query gave them."""
    table = _table("Documents", "Rank", "Score", "Document", "Found by, at rank")
    names = _names(response)
    numbers = {query: f"q{number}" for number, query in enumerate(_by_query(response.trace), start=1)}
    ranks = _ranks(response.trace, numbers)
    for rank, document in enumerate(_best(response)[:_DOCUMENTS], start=1):
        chunk_id = document["chunk_id"]
        parts = document.get("contributions")
        told = [f"{numbers[part['query']]} #{part['rank']}" for part in parts] if parts else ranks.get(chunk_id, [])
        _add(table, rank, f"{document['score']:.4f}", names.get(chunk_id, chunk_id[:_ID_CHARACTERS]), ", ".join(told))
    return table


def _ranked_lists(response: RAGResponse) -> "Table":
    """What each query ranked, side by side; in the first round, where there were more."""
    lists, names = [row for row in response.trace["queries"] if not row.get("round")], _names(response)
    table = _table("Ranked lists", "Rank", *(_heading(row) for row in lists))
    for rank in range(max((len(row["ranked"]) for row in lists), default=0)):
        cells = (row["ranked"][rank]["chunk_id"] if rank < len(row["ranked"]) else "" for row in lists)
        _add(table, rank + 1, *(names.get(chunk_id, chunk_id[:_ID_CHARACTERS]) for chunk_id in cells))
    return table


def _relations(relations: Mapping[str, Sequence[str]], names: Mapping[str, str]) -> "Table":
    """Each relation that the walk of ``graph`` followed, and where it led."""
    table = _table("Relations", "Relation", "Led to")
    for relation, chunk_ids in relations.items():
        led_to = dict.fromkeys(names.get(chunk_id, chunk_id[:_ID_CHARACTERS]) for chunk_id in chunk_ids)
        _add(table, relation, ", ".join(led_to))
    return table


def _sub_answers(response: RAGResponse) -> "Table":
    table = _table("Sub-answers", "Sub-question", "Found", "Answer", "Sources")
    for part in response.sub_answers:
        sources = dict.fromkeys(citation.label or str(citation.citation_id) for citation in part.citations)
        _add(table, part.sub_question, "yes" if part.found else "no", part.error or part.answer, ", ".join(sources))
    return table


def _by_query(trace: Trace) -> dict[str, list[Trace]]:
    """The traced lists by the query that they answer, in order: one each, or one for each method of search."""
    rows: dict[str, list[Trace]] = {}
    for row in trace.get("queries", ()):
        rows.setdefault(row["query"], []).append(row)
    return rows


def _best(response: RAGResponse) -> Sequence[Trace]:
    """The documents in the order that decided: fused or reranked ones, else those that stood before the generator."""
    trace = response.trace
    return trace.get("fused") or trace.get("ranked_chunks") or [source.model_dump() for source in response.sources]


def _ranks(trace: Trace, numbers: Mapping[str, str]) -> dict[str, list[str]]:
    """For each document, the lists that hold it: ``q1 dense #3`` is rank 3 of what the first query found by meaning."""
    ranks: dict[str, dict[str, None]] = {}
    for row in trace.get("queries", ()):
        where = " ".join(filter(None, (numbers[row["query"]], row.get("method"))))
        for rank, hit in enumerate(row["ranked"], start=1):
            ranks.setdefault(hit["chunk_id"], {})[f"{where} #{rank}"] = None  # once, however many rounds found it there
    return {chunk_id: list(told) for chunk_id, told in ranks.items()}


def _heading(row: Trace) -> str:
    return " ".join(filter(None, (_origin(row), row.get("method"))))


def _origin(row: Trace) -> str:
    return str(row.get("origin", "question")).replace("_", "-")


def _names(response: RAGResponse) -> dict[str, str]:
    """What a reader knows the documents by."""
    return dict(_named(response))


def _named(response: RAGResponse) -> Iterator[tuple[str, str]]:
    trace = response.trace
    yield from ((hit["chunk_id"], hit["document_uri"]) for hit in trace.get("ranked_chunks", ()))
    yield from (
        (h["chunk_id"], h["title"]) for row in trace.get("queries", ()) for h in row["ranked"] if h.get("title")
    )
    yield from ((source.chunk_id, _name(source)) for source in response.sources)


def _name(source: SourceReference) -> str:
    place = " > ".join(filter(None, dict.fromkeys((source.title, *source.heading_path))))
    return f"[{source.label or source.number}] {place or source.uri}"


def _table(title: str, *columns: str) -> "Table":
    from rich.table import Table

    return Table(*columns, title=title, title_justify="left")


def _add(table: "Table", *cells: object) -> None:
    from rich.text import Text

    table.add_row(*(Text(str(cell)) for cell in cells))  # as text: neither a question nor a title is markup
