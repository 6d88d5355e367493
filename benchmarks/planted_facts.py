"""A small world made by rule: houses, the pages that tell of them, and questions whose whole answer is known."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_FIRST = (
    "Norvik Halden Tressel Quillon Marbeck Ostrava Velmore Dunholt Sarnia Keldby Ravello Pinmark Oxtern Luthen".split()
)
_SECOND = ("Brewery", "Observatory", "Foundry", "Ferry Line", "Institute", "Bindery", "Orchard", "Shipyard")
_CITIES = tuple("Aldmouth Bergen Castrel Dorwin Elsby Fenholm Gravik Hollem Istrad Jarrow Kolding Lorient".split())
_PEOPLE = tuple(
    f"{first} {last}"
    for first, last in zip(
        "Ana Boris Clara Dmitri Edda Farid Greta Hugo Iris Jonas Katja Leif".split(),
        "Almqvist Brandt Castell Dobrev Ekholm Farouk Gruber Haslund Ivarsen Jordaan Kessel Lindgren".split(),
        strict=True,
    )
)
_LANGUAGES = ("Danish", "French", "Polish", "Italian", "Welsh", "Dutch", "Czech", "Finnish")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


@dataclass(frozen=True, slots=True)
class Attribute:
    """Something that every house has: how its page tells it, how people ask for it, and how an answer may say it."""

    asked: str
    told: tuple[str, ...]
    said: tuple[str, ...]
    """``{s}`` stands for the house, or "It"."""
    values: tuple[str, ...]


def _numbers(start: int, stop: int, step: int, form: str = "{}") -> tuple[str, ...]:
    return tuple(form.format(number) for number in range(start, stop, step))


ATTRIBUTES = (
    Attribute(
        "the year of its founding",
        (
            "{e} was founded in {v} by a group of engineers.",
            "The charter of {e} was signed in {v}, the year it was founded.",
        ),
        (
            "{s} was founded in {v}.",
            "{s} goes back to {v}, the year of its founding.",
            "{s} has existed since {v}, when it was founded.",
        ),
        _numbers(1861, 1999, 3),
    ),
    Attribute(
        "the head office",
        ("Its head office stands in {v}, near the harbour.", "The head office of {e} is in {v}."),
        (
            "{s} has its head office in {v}.",
            "{s} is run from its head office in {v}.",
            "{s} keeps its head office in {v}.",
        ),
        _CITIES,
    ),
    Attribute(
        "the number of employees",
        ("{v} people work at {e} today.", "Today {e} employs {v} people, most of them full time."),
        ("{s} employs {v} people.", "{s} has {v} employees.", "{s} gives work to {v} people."),
        _numbers(112, 980, 17),
    ),
    Attribute(
        "the director",
        ("The director of {e} is {v}, who took office last spring.", "Since last spring {v} has been director of {e}."),
        (
            "{s} is led by its director, {v}.",
            "{s} has {v} as its director.",
            "{s} has been under its director {v} since last spring.",
        ),
        _PEOPLE,
    ),
    Attribute(
        "the yearly budget",
        ("The yearly budget of {e} comes to {v} million crowns.", "{e} has a yearly budget of {v} million crowns."),
        (
            "{s} has a budget of {v} million crowns a year.",
            "{s} spends a yearly budget of {v} million crowns.",
            "{s} works with a yearly budget of {v} million crowns.",
        ),
        _numbers(3, 95, 2),
    ),
    Attribute(
        "the time for repairs",
        ("Repairs are finished within {v} days of the order.", "{e} finishes repairs within {v} days of the order."),
        (
            "{s} finishes repairs within {v} days.",
            "{s} completes repairs {v} days after the order at the latest.",
            "{s} takes at most {v} days for repairs.",
        ),
        _numbers(4, 60, 3),
    ),
    Attribute(
        "the language of its meetings",
        ("All meetings at {e} are held in {v}.", "Meetings of {e} are held in {v}, with minutes for everybody."),
        ("{s} holds its meetings in {v}.", "{s} uses {v} for all its meetings.", "{s} conducts meetings in {v}."),
        _LANGUAGES,
    ),
    Attribute(
        "the opening day of the archive",
        ("Visitors may see the archive of {e} on {v}.", "The archive is open to visitors on {v}."),
        (
            "{s} opens its archive to visitors on {v}.",
            "{s} lets visitors see the archive on {v}.",
            "{s} shows its archive to visitors every {v}.",
        ),
        _DAYS,
    ),
)
_FILLERS = (
    "The old gate was painted again after the storm.",
    "A staircase leads from the yard to the upper floor.",
    "In winter the windows of the long hall are covered.",
    "A footpath along the water ends at the back door.",
    "Deliveries arrive at the side entrance before noon.",
)
INVENTIONS = (
    "{s} also runs a small museum for children.",
    "{s} plans to open a second branch abroad next year.",
    "{s} won a contract with the navy against three rivals.",
    "{s} publishes a quarterly magazine about local history.",
    "{s} lost a third of its stock in a fire.",
    "{s} offers free evening courses in carpentry.",
)
"""Said of no house on any page."""


class Fact(NamedTuple):
    """What one house has of one attribute."""

    house: str
    attribute: Attribute
    value: str
    evidence: str
    """The sentence of its page that says it."""


@dataclass(frozen=True, slots=True)
class World:
    """All houses, with their facts."""

    facts: dict[str, tuple[Fact, ...]]
    pages: dict[str, str]
    """File name to Markdown."""

    def write(self, folder: Path) -> Path:
        """The pages as files in ``folder``."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.pages.items():
            (folder / name).write_text(text, encoding="utf-8")
        return folder


class Asked(NamedTuple):
    """A question, and the facts that answer it."""

    question: str
    facts: tuple[Fact, ...]


def make_world(houses: int, seed: int = 7) -> World:
    """``houses`` houses (at most 112), each on two pages, so that the right page and its sibling can be mixed up."""
    rng = random.Random(seed)
    names = [f"{first} {second}" for first in _FIRST for second in _SECOND]
    facts = {name: _facts(name, rng) for name in rng.sample(names, houses)}
    pages: dict[str, str] = {}
    for name, of_house in facts.items():
        told = rng.sample(of_house, len(of_house))
        for half, heading in ((told[:4], "Past and present"), (told[4:], "Daily work")):
            pages[f"{name} {heading}.md".replace(" ", "-").lower()] = _page(name, heading, half, rng)
    return World(facts, pages)


def make_questions(world: World, count: int, seed: int = 11) -> list[Asked]:
    """``count`` questions for three to five facts of a house."""
    rng = random.Random(seed)
    houses = list(world.facts)
    asked = []
    for number in range(count):
        house = houses[number % len(houses)]
        facts = tuple(rng.sample(world.facts[house], rng.randint(3, 5)))
        wanted = ", ".join(fact.attribute.asked for fact in facts[:-1])
        asked.append(Asked(f"What are {wanted} and {facts[-1].attribute.asked} of the {house}?", facts))
    return asked


def _facts(house: str, rng: random.Random) -> tuple[Fact, ...]:
    facts = []
    for attribute in ATTRIBUTES:
        value = rng.choice(attribute.values)
        facts.append(Fact(house, attribute, value, rng.choice(attribute.told).format(e=f"The {house}", v=value)))
    return tuple(fact._replace(evidence=fact.evidence.replace(" The ", " the ")) for fact in facts)


def _page(house: str, heading: str, facts: Sequence[Fact], rng: random.Random) -> str:
    sentences = [fact.evidence for fact in facts]
    for filler in rng.sample(_FILLERS, 3):
        sentences.insert(rng.randint(0, len(sentences)), filler)
    return f"# {house}\n\n## {heading}\n\n{' '.join(sentences)}\n"
