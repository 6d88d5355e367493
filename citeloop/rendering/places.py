"""The sources of an answer as a reader sees them: label, place, beginning, and an address that is safe to follow."""

from urllib.parse import urlsplit

from citeloop.state.models import Citation, Conflict, RAGResponse, SourceReference

_SHOWN_CHARACTERS = 200
_SAFE_SCHEMES = ("http", "https", "file")


def place_of(cited: Citation | SourceReference) -> str:
    """Title and headings, outermost first, each once."""
    title = cited.document_title if isinstance(cited, Citation) else cited.title
    return " > ".join(filter(None, dict.fromkeys((title, *cited.heading_path))))


def cited_sources(response: RAGResponse) -> list[Citation]:
    """One citation for each source that the answer cites, its first, by number."""
    cited = {citation.citation_id: citation for citation in reversed(response.citations)}
    return [cited[number] for number in sorted(cited)]


def cut(text: str, characters: int = _SHOWN_CHARACTERS) -> str:
    """The beginning of ``text`` on one line: as much of a source as a footnote shows (ADR-031)."""
    line = " ".join(text.split())
    return line if len(line) <= characters else line[:characters] + "..."


def labels_of(response: RAGResponse) -> dict[int, str]:
    """How the answer cites each source: its number, or the ``D7`` of ``[D7]``."""
    sources = {source.number: source.label for source in response.sources}
    cited = {citation.citation_id: citation.label for citation in response.citations}
    return {number: label or str(number) for number, label in (sources | cited).items()}


def safe_link(uri: str) -> str:
    """``uri`` where a link may lead to it, else nothing: only absolute addresses of the web and of files.

    A relative path is no link: the page does not lie where the document did.
    """
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    leads_somewhere = parts.netloc if parts.scheme in ("http", "https") else parts.path.startswith("/")
    return uri if parts.scheme in _SAFE_SCHEMES and leads_somewhere and uri.isprintable() else ""


def values_of(conflict: Conflict) -> list[tuple[str, int]]:
    """Each value with the number of the source that gives it."""
    return list(zip(conflict.values, conflict.citation_ids, strict=False))
