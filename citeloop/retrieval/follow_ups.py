"""What a further hop of ``multi_hop`` asks: which part of the question is still open, and which names lead on to it.

Pure functions over passages already read. No model is needed: the names that the best passages hold and the question
does not are the bridges, and each is asked for together with the words of the question that its passage leaves open.
A bridge carries the trust in the passage it comes from, so that what lies behind a doubtful passage ranks behind.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from citeloop.knowledge.corpus import Chunk
from citeloop.models.query_writers import names
from citeloop.state.graph_state import Query
from citeloop.text.words import content_stems, words

READ_FOR_BRIDGES = 5
"""The best passages that are read for names; further down stands what is about something else."""

_TITLE_WEIGHT = 0.5
"""What a passage's own title counts as a bridge, beside 1 for a name in its sentence nearest to the question."""
_STEP = 0.8
"""Trust lost with each hop: what answers the question itself comes before what answers a follow-up as well."""
_MENTIONS, _UNLINKED = 0.4, 0.2
"""How far a passage that only mentions the name asked about, or does not, is what was looked for; 1 where its title is
that name. Chosen, with the two above, on questions of twowiki that are not scored (evals/results.md)."""
_QUALIFIER = re.compile(r"\s*\([^)]*\)\s*$")
_DATE = re.compile(
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)?[\s\d,]*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class RankedChunk:
    """A passage found so far, with its sentences and the probability that it is what was looked for."""

    chunk: Chunk
    sentences: tuple[str, ...]
    score: float


@dataclass(frozen=True, slots=True)
class _Bridge:
    name: str
    strength: float
    source: Chunk
    """The passage that leads to it best."""


def open_words(question: str, chunks: Iterable[Chunk]) -> list[str]:
    """The content words of ``question``, in order, that stand in none of ``chunks``, titles included."""
    known = {stem for chunk in chunks for stem in _stems_of(chunk)}
    return [word for word in dict.fromkeys(words(question)) if not known.issuperset(content_stems(word))]


def write_follow_ups(
    question: str, ranked: Sequence[RankedChunk], good: Sequence[Chunk], asked: Collection[str], most: int
) -> list[Query]:
    """At most ``most`` queries: the names in the question of which no ``good`` passage tells, then the bridges of the
    best of ``ranked``. Names that were ``asked`` about before are left out."""
    done = {_key(name) for name in asked}
    return list(islice((query for query in _proposed(question, ranked, good) if _is_new(query, done)), most))


def follow_up_of_model(text: str, question: str, ranked: Sequence[RankedChunk]) -> Query:
    """A query in a model's own words, with the strongest bridge that it names; trusted as it is where it names none."""
    stems = set(content_stems(text))
    held = (bridge for bridge in _bridges(question, ranked) if stems.issuperset(content_stems(bridge.name)))
    bridge = next(held, None)
    return _follow_up(text, bridge.name, bridge.strength) if bridge else _follow_up(text, "", 1.0)


def follow_up_score(query: Query, chunk: Chunk, relevance: float) -> float:
    """Probability that ``chunk`` helps with the question: the trust in what led to ``query``, in the step itself, that
    the chunk is about the name asked for, and ``relevance``, that it answers the query."""
    return _STEP * query.get("strength", 1.0) * _link(query.get("about", ""), chunk) * relevance


def _proposed(question: str, ranked: Sequence[RankedChunk], good: Sequence[Chunk]) -> Iterator[Query]:
    for name in names(question):
        if content_stems(name) and not any(_tells_of(name, chunk) for chunk in good):
            yield _follow_up(name, name, 1.0)
    for bridge in _bridges(question, ranked):
        rest = " ".join(open_words(question, [bridge.source]))
        yield _follow_up(f"{bridge.name} {rest}".strip(), bridge.name, bridge.strength)


def _is_new(query: Query, done: set[str]) -> bool:
    key = _key(query["about"])
    is_new = key not in done
    done.add(key)
    return is_new


def _bridges(question: str, ranked: Sequence[RankedChunk]) -> list[_Bridge]:
    """Names in the best passages that the question does not hold, the strongest first."""
    asked = set(content_stems(question))
    strengths: defaultdict[str, float] = defaultdict(float)
    best: dict[str, tuple[float, _Bridge]] = {}
    for passage in ranked[:READ_FOR_BRIDGES]:
        for name, weight in _names_in(passage, asked).items():
            key, trust = _key(name), passage.score * weight
            strengths[key] += trust
            if key not in best or trust > best[key][0]:
                best[key] = (trust, _Bridge(name, trust, passage.chunk))
    in_order = sorted(best, key=lambda key: -strengths[key])  # stable: equals keep the order in which they were read
    return [_Bridge(best[key][1].name, min(1.0, strengths[key]), best[key][1].source) for key in in_order]


def _names_in(passage: RankedChunk, asked: set[str]) -> dict[str, float]:
    """New names, each with its weight: how near the best sentence that holds it is to the question."""
    shared = [len(asked.intersection(content_stems(sentence))) + 1 for sentence in passage.sentences]
    weights = {_title(passage.chunk): _TITLE_WEIGHT}
    for sentence, count in zip(passage.sentences, shared, strict=True):
        for name in names(sentence):
            weights[name] = max(weights.get(name, 0.0), count / max(shared))
    return {name: weight for name, weight in weights.items() if _is_bridge(name, asked)}


def _is_bridge(name: str, asked: set[str]) -> bool:
    stems = content_stems(name)
    return bool(stems) and not asked.issuperset(stems) and not _DATE.fullmatch(name)


def _link(name: str, chunk: Chunk) -> float:
    if not name or _key(name) == _key(_title(chunk)):
        return 1.0
    return _MENTIONS if _tells_of(name, chunk) else _UNLINKED


def _tells_of(name: str, chunk: Chunk) -> bool:
    return _stems_of(chunk).issuperset(content_stems(name))


def _stems_of(chunk: Chunk) -> set[str]:
    return set(content_stems(f"{chunk.title} {chunk.text}"))


def _title(chunk: Chunk) -> str:
    """Without what only tells it from its namesakes: "Brand (play)" is Brand."""
    return _QUALIFIER.sub("", chunk.title)


def _key(name: str) -> str:
    return " ".join(content_stems(name))


def _follow_up(text: str, about: str, strength: float) -> Query:
    return Query(text=text, origin="follow_up", about=about, strength=round(strength, 6))
