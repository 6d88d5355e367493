"""Keyword indexes inside SQLite: what ``lexical_engines.py`` measures tantivy against.

One file, write-ahead log, tables per corpus, a map from chunk ids to row ids. FTS5 cannot be given inverse document
frequencies: its bm25() takes weights for columns only, and ranking functions of one's own need C. So they are put in
from outside, at the price of reading every posting of every term; the plain postings table pays the same price.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path

from citeloop.knowledge.corpus import Hit, OpenCorpus
from citeloop.knowledge.indexes import TermStatistics
from citeloop.text.words import content_stems


class SqliteLexicalIndex:
    """What the engines in SQLite share."""

    schema: tuple[str, ...]

    def __init__(self, folder: Path) -> None:
        self.connection = sqlite3.connect(folder / "store.db")
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA mmap_size = 1000000000")
        self.connection.execute("PRAGMA cache_size = -256000")  # KiB: the postings table is built in random order

    def statistics(self, corpus: OpenCorpus, terms: Sequence[str]) -> TermStatistics:
        """See ``LexicalIndex``."""
        chunks = self._number(f"SELECT count(*) FROM id_{corpus.id}")
        query = self.frequency_query(corpus)
        return TermStatistics(chunks, {term: self._number(query, term) for term in terms})

    def upsert(self, corpus: OpenCorpus, rows: Sequence[tuple[str, str]]) -> None:
        """See ``LexicalIndex``."""
        ids = f"CREATE TABLE IF NOT EXISTS id_{corpus.id} (id INTEGER PRIMARY KEY, chunk TEXT UNIQUE)"
        with self.connection:
            for statement in (ids, *self.schema):
                self.connection.execute(statement.format(corpus=corpus.id))
            for chunk_id, text in rows:
                self.put(corpus, self._row_id(corpus, chunk_id), content_stems(text))

    def search(self, corpus: OpenCorpus, term_weights: Mapping[str, float], top_k: int) -> list[Hit]:
        """See ``LexicalIndex``."""
        raise NotImplementedError

    def frequency_query(self, corpus: OpenCorpus) -> str:
        """SQL for the chunks that hold one term."""
        raise NotImplementedError

    def put(self, corpus: OpenCorpus, row: int, stems: list[str]) -> None:
        """Add a row or replace it."""
        raise NotImplementedError

    def _row_id(self, corpus: OpenCorpus, chunk_id: str) -> int:
        return self._number(
            f"INSERT INTO id_{corpus.id} (chunk) VALUES (?) ON CONFLICT DO UPDATE SET chunk = chunk RETURNING id",
            chunk_id,
        )

    def _number(self, query: str, *values: str) -> int:
        row = self.connection.execute(query, values).fetchone()
        return int(row[0]) if row else 0


class Fts5(SqliteLexicalIndex):
    """FTS5 as it comes: bm25() with the frequencies of the one corpus; the weights given are not used."""

    schema = (
        "CREATE VIRTUAL TABLE IF NOT EXISTS fts_{corpus} USING "
        """fts5(stems, tokenize = "unicode61 remove_diacritics 0 tokenchars '.,\u2019'''")""",
        "CREATE VIRTUAL TABLE IF NOT EXISTS vocabulary_{corpus} USING fts5vocab(fts_{corpus}, row)",
    )

    def frequency_query(self, corpus: OpenCorpus) -> str:
        """See ``SqliteLexicalIndex``."""
        return f"SELECT doc FROM vocabulary_{corpus.id} WHERE term = ?"

    def put(self, corpus: OpenCorpus, row: int, stems: list[str]) -> None:
        """See ``SqliteLexicalIndex``."""
        values = (row, " ".join(stems))
        self.connection.execute(f"INSERT OR REPLACE INTO fts_{corpus.id} (rowid, stems) VALUES (?, ?)", values)

    def search(self, corpus: OpenCorpus, term_weights: Mapping[str, float], top_k: int) -> list[Hit]:
        """See ``LexicalIndex``."""
        table = f"fts_{corpus.id}"
        found = self.connection.execute(
            f"SELECT chunk, -score FROM (SELECT rowid, rank AS score FROM {table} WHERE {table} MATCH ? ORDER BY rank "
            f"LIMIT ?) JOIN id_{corpus.id} ON id = rowid ORDER BY score",
            (" OR ".join(f'"{term}"' for term in term_weights), top_k),
        )
        return [Hit(*row) for row in found]


class Fts5GivenWeights(Fts5):
    """FTS5 asked term by term; each term's bm25() is rescaled from its own idf to the weight given, then summed."""

    def search(self, corpus: OpenCorpus, term_weights: Mapping[str, float], top_k: int) -> list[Hit]:
        """See ``LexicalIndex``."""
        table = f"fts_{corpus.id}"
        seen = self.statistics(corpus, list(term_weights))
        parts: list[str] = []
        values: list[str | float] = []
        for term, frequency in seen.document_frequency.items():
            if frequency:
                parts.append(f"SELECT rowid, -rank * ? AS score FROM {table} WHERE {table} MATCH ?")
                values += [term_weights[term] / _idf_of_fts5(seen.chunks, frequency), f'"{term}"']
        if not parts:
            return []
        found = self.connection.execute(
            f"SELECT chunk, score FROM (SELECT rowid, sum(score) AS score FROM ({' UNION ALL '.join(parts)}) "
            f"GROUP BY rowid ORDER BY score DESC LIMIT ?) JOIN id_{corpus.id} ON id = rowid ORDER BY score DESC",
            (*values, top_k),
        )
        return [Hit(*row) for row in found]


class PostingsTable(SqliteLexicalIndex):
    """An inverted index as a plain table, scored by SQL."""

    schema = (
        "CREATE TABLE IF NOT EXISTS posting_{corpus} "
        "(term TEXT, chunk INTEGER, tf INTEGER, PRIMARY KEY (term, chunk)) WITHOUT ROWID",
        "CREATE INDEX IF NOT EXISTS by_chunk_{corpus} ON posting_{corpus} (chunk)",
        "CREATE TABLE IF NOT EXISTS length_{corpus} (chunk INTEGER PRIMARY KEY, stems INTEGER)",
    )

    def frequency_query(self, corpus: OpenCorpus) -> str:
        """See ``SqliteLexicalIndex``."""
        return f"SELECT count(*) FROM posting_{corpus.id} WHERE term = ?"

    def put(self, corpus: OpenCorpus, row: int, stems: list[str]) -> None:
        """See ``SqliteLexicalIndex``."""
        self.connection.execute(f"DELETE FROM posting_{corpus.id} WHERE chunk = ?", [row])
        self.connection.execute(f"INSERT OR REPLACE INTO length_{corpus.id} VALUES (?, ?)", (row, len(stems)))
        postings = [(term, row, tf) for term, tf in Counter(stems).items()]
        self.connection.executemany(f"INSERT INTO posting_{corpus.id} VALUES (?, ?, ?)", postings)

    def search(self, corpus: OpenCorpus, term_weights: Mapping[str, float], top_k: int) -> list[Hit]:
        """See ``LexicalIndex``."""
        found = self.connection.execute(
            f"""WITH weight(term, weight) AS (SELECT key, value FROM json_each(?)),
            average(stems) AS (SELECT avg(stems) FROM length_{corpus.id}),
            best AS (
                SELECT chunk, sum(weight * 2.2 * tf / (tf + 0.3 + 0.9 * length.stems / average.stems)) AS score
                FROM weight CROSS JOIN posting_{corpus.id} USING (term)
                JOIN length_{corpus.id} AS length USING (chunk), average
                GROUP BY chunk ORDER BY score DESC LIMIT ?)
            SELECT id.chunk, score FROM best JOIN id_{corpus.id} AS id ON id.id = best.chunk ORDER BY score DESC""",
            (json.dumps(term_weights), top_k),
        )
        return [Hit(*row) for row in found]


def _idf_of_fts5(chunks: int, frequency: int) -> float:
    """FTS5 has no "1 +" in its logarithm, and a floor where a term stands in half of the rows or more."""
    return max(log((chunks - frequency + 0.5) / (frequency + 0.5)), 1e-6) if frequency <= chunks / 2 else 1e-6
