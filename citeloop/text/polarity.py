"""Words that turn a statement around: negations, and opposites of each other. English."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

from citeloop.text.words import STOPWORDS, stem

_NEGATIONS = frozenset(
    "not no never none neither nor without cannot nobody nothing unable fail fails failed lack".split()
)
_NEGATION_REACH = 3
"""Content words after a negation that it may turn around."""

OPPOSITE_PAIRS = tuple(
    (one, other)
    for one, _, other in (
        pair.partition("/")
        for pair in """
        increase/decrease increase/reduce rise/fall grow/shrink gain/loss win/lose more/less more/fewer higher/lower
        high/low before/after first/last begin/end start/stop minimum/maximum least/most always/never allow/forbid
        allow/prohibit permit/prohibit permit/forbid required/optional mandatory/optional include/exclude accept/reject
        approve/reject enable/disable open/closed true/false true/untrue success/failure positive/negative north/south
        east/west larger/smaller large/small longer/shorter long/short older/younger early/late earlier/later
        above/below up/down public/private internal/external buy/sell import/export paid/unpaid legal/illegal
        possible/impossible safe/unsafe same/different all/none cause/prevent support/oppose major/minor inside/outside
        hot/cold encrypt/decrypt
        ally/enemy friend/enemy ancient/modern arrive/leave attack/defend best/worst better/worse birth/death born/died
        eastern/western northern/southern easy/difficult easy/hard former/latter heavy/light husband/wife
        indoor/outdoor known/unknown left/right male/female man/woman men/women majority/minority natural/artificial
        new/old newest/oldest oldest/youngest largest/smallest biggest/smallest big/small highest/lowest
        longest/shortest earliest/latest often/rarely often/seldom parent/child peace/war poor/rich poor/wealthy
        popular/unpopular present/absent remember/forget strong/weak strongest/weakest teacher/student rural/urban
        usual/unusual valid/invalid victory/defeat wide/narrow simple/complex few/many common/rare common/uncommon
        fast/slow faster/slower deep/shallow dependent/independent able/unable religious/secular civilian/military
        domestic/foreign finite/infinite wet/dry full/empty built/destroyed create/destroy join/leave enter/exit
        lend/borrow give/take send/receive agree/disagree advantage/disadvantage benefit/harm likely/unlikely
        important/unimportant equal/unequal direct/indirect active/passive add/remove top/bottom front/back day/night
        summer/winter king/queen father/mother son/daughter brother/sister maintain/abandon appear/disappear
        connect/disconnect expand/contract encourage/discourage help/hinder improve/worsen strengthen/weaken
        tall/short near/far complete/incomplete fail/succeed raise/lower ban/allow ban/permit keep/lose hide/reveal
        rose/fell won/lost grew/shrank
        local/national primary/secondary predecessor/successor preceding/following ahead/behind over/under
        """.split()
    )
)


@lru_cache(maxsize=1)
def opposites() -> dict[str, frozenset[str]]:
    """Stems to the stems of their opposites."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for one, other in OPPOSITE_PAIRS:
        found[stem(one)].add(stem(other))
        found[stem(other)].add(stem(one))
    return {word: frozenset(others) for word, others in found.items()}


def have_opposites(some: frozenset[str], others: frozenset[str]) -> bool:
    """Whether a stem of ``some`` that is not in ``others`` stands against its opposite there, and not here: "more"
    here, only "less" there."""
    here, there = some - others, others - some
    return any(not opposites()[word].isdisjoint(there) for word in here & opposites().keys())


def are_opposites(one: str, other: str) -> bool:
    """Whether two stems are each other's opposite."""
    return other in opposites().get(one, ())


def is_negation(word: str) -> bool:
    """Whether ``word`` (lower case) turns around what follows it."""
    return word in _NEGATIONS or word.endswith(("n't", "n’t"))


def negated_words(all_words: Sequence[str]) -> Iterator[str]:
    """The content words that stand soon after a negation; ``all_words`` in lower case, stop words too."""
    reach = 0
    for word in all_words:
        if is_negation(word):
            reach = _NEGATION_REACH
        elif reach and word not in STOPWORDS:
            reach -= 1
            yield word
