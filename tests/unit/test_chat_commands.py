"""``@corpus:query`` and ``@corpus:ask`` as people type them."""

import re
import subprocess
import sys
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citeloop.chat_commands import EXAMPLE, ChatCommand, parse_chat_command
from citeloop.errors import InvalidRequest, MissingReason
from citeloop.state.config import StrategyChoice

QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "‘": "’", "«": "»", "「": "」"}
LOGS = ChatCommand("ask", "How long are logs kept?")
AUDITED = replace(LOGS, command="query", access_reason="audit 12")
BOTH = ("policies", "handbook")


@pytest.mark.parametrize(
    "text",
    [
        "How long are logs kept?",
        "Does x=5 hold, and is strategy=simple a setting?",
        "What does @corpus:query do?",
        "corpus:ask How long?",
        "",
    ],
)
def test_other_text_is_a_question(text: str) -> None:
    assert parse_chat_command(text) is None


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("@corpus:ask How long are logs kept?", LOGS),
        ("  @Corpus:ASK\nHow long are logs kept?\n", LOGS),
        ('@corpus:ask query="How long are logs kept?"', LOGS),
        ("@corpus:ask question: How long are logs kept?", LOGS),
        ("@corpus:ask «How long are logs kept?» top_k=5, corpus=a", replace(LOGS, top_k=5, corpora=("a",))),
        ("@corpus:ask How long are logs kept? require-citations = No", replace(LOGS, require_citations=False)),
        ("@corpus:ask How long are logs kept? strategy: Multi-Hop", replace(LOGS, strategy="multi_hop")),
        ("@corpus:ask corpus=policies How long are logs kept?", replace(LOGS, corpora=("policies",))),
        ('@corpus:query "How long are logs kept?" access_reason="audit 12"', AUDITED),
        ("@corpus:query How long are logs kept? reason=“audit 12”", AUDITED),
        ("@corpus:query reason='audit 12' How long are logs kept?", AUDITED),
        ("@corpus:query “How long are logs kept?”reason: audit 12", AUDITED),
        (EXAMPLE, replace(AUDITED, corpora=BOTH)),
        (f"@corpus:query {LOGS.question}\nreason: audit 12\ncorpora:policies,handbook", replace(AUDITED, corpora=BOTH)),
        ('@corpus:ask "How long are logs kept?" corpora=[policies, "handbook"]', replace(LOGS, corpora=BOTH)),
        (f"@corpus:ask {LOGS.question} corpus=policies corpus=handbook corpus=policies", replace(LOGS, corpora=BOTH)),
        (f'@corpus:ask {LOGS.question} corpora="our files"; top_k=5', replace(LOGS, corpora=("our files",), top_k=5)),
    ],
)  # fmt: skip
def test_a_command_is_read(text: str, command: ChatCommand) -> None:
    assert parse_chat_command(text) == command


@pytest.mark.parametrize(
    "question",
    [
        "What's the users' limit?",
        "Were the '90s rules kept?",
        '"Parental leave" means what?',
        'What does "top_k=5" mean, or "reason: x"?',
        "Is E = mc2, x == y and a <= b, see https://example.org/?a=b at 10:30, note: it matters?",
        "First line\n\n  second line?",
        "Does git push --force pass?",
    ],
)
def test_an_unquoted_question_stays_as_it_is(question: str) -> None:
    assert parse_chat_command(f"@corpus:ask {question}") == ChatCommand("ask", question)
    assert parse_chat_command(f"@corpus:ask {question} top_k=4") == ChatCommand("ask", question, top_k=4)


def test_an_apostrophe_ends_no_quote() -> None:
    assert parse_chat_command("@corpus:ask 'What's the limit?' top_k=4") == ChatCommand(
        "ask", "What's the limit?", top_k=4
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("@corpus:find How long?", "no command '@corpus:find': the commands are @corpus:query and @corpus:ask"),
        ("@corpus: ask How long?", "no command '@corpus:'"),
        ("@corpus:ask", "the question is missing"),
        ("@corpus:ask '' top_k=3", "the question is missing"),
        ("@corpus:ask How long? limit=5", "no parameter 'limit': they are query, access_reason, corpus_ids, strategy"),
        ("@corpus:ask How long? corpuss: legal", "no parameter 'corpuss'"),
        ("@corpus:ask How long are logs kept corpuss: legal", "'corpuss:' may be corpus or part of the question"),
        ("@corpus:ask Give the reason: why 16 weeks?", "'reason:' may be reason or part of the question"),
        ("@corpus:ask What does top_k=5 mean?", "cannot place 'mean?'"),
        ("@corpus:ask How long? --corpus legal", "write corpus=... for --corpus"),
        ("@corpus:ask How long? strategy=fastest", "strategy 'fastest': Input should be 'auto', 'simple', 'standard'"),
        ("@corpus:ask How long? top_k=many", "top_k 'many': Input should be a valid integer"),
        ("@corpus:ask How long? top_k=0", "top_k '0': Input should be greater than or equal to 1"),
        ("@corpus:ask How long? top_k=201", "top_k '201': Input should be less than or equal to 200"),
        ("@corpus:ask How long? require_citations=maybe", "require_citations 'maybe': Input should be a valid boolean"),
        ("@corpus:ask How long? strategy= top_k=5", "strategy needs a value"),
        ("@corpus:ask How long? corpora=", "corpora needs a value"),
        ("@corpus:ask How long? corpora=[policies", "not closed by a ]"),
        ("@corpus:ask How long? corpora=policies,,handbook", "a name is missing among the corpora"),
        ('@corpus:ask How long? corpora=""', "a name is missing among the corpora"),
        ('@corpus:ask "How long?', "a quote is not closed: "),
        ("@corpus:ask How long? reason=“audit", "a quote is not closed: '“audit'"),
        ("@corpus:ask How long? top_k=5 top_k=5", "top_k is given twice"),
        ('@corpus:ask query="How long?" question="How short?"', "question is given twice"),
        ('@corpus:ask "How long?" reason="audit" 12', "cannot place '12'"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_line_with_an_example(text: str, told: str) -> None:
    with pytest.raises(InvalidRequest, match=re.escape(told)) as refused:
        parse_chat_command(text)
    assert str(refused.value).endswith(f"; for example {EXAMPLE}")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("given_reason", ["", ' reason=""', " reason='  '"])
def test_a_query_needs_a_reason(given_reason: str) -> None:
    text = f"@corpus:query How long?{given_reason}"
    with pytest.raises(MissingReason, match=r"say why you ask; for example @corpus:query"):
        parse_chat_command(text)
    assert parse_chat_command(text.replace("query", "ask")) == ChatCommand("ask", "How long?")


def test_a_reason_given_beside_the_command_counts_unless_the_command_has_one() -> None:
    beside = parse_chat_command("@corpus:query How long?", access_reason="audit 12")
    assert beside == ChatCommand("query", "How long?", "audit 12")
    own = parse_chat_command("@corpus:query How long? reason=hiring", access_reason="audit 12")
    assert own == ChatCommand("query", "How long?", "hiring")


def test_overrides_are_the_settings_that_were_given() -> None:
    command = parse_chat_command("@corpus:ask How long? strategy=simple require_citations=false")
    assert command is not None
    assert command.overrides == {"strategy": "simple", "require_citations": False}
    assert LOGS.overrides == {}


BOMB = """
import sys
from citeloop.chat_commands import parse_chat_command
parse_chat_command("@corpus:ask x " + sys.argv[1] * (600_000 // len(sys.argv[1])))
"""


@pytest.mark.parametrize("repeated", ["“ ", "'a ", "x: ", "- ", " "])
def test_a_command_is_read_in_linear_time(repeated: str) -> None:
    """Linear code needs a second or two, quadratic code many minutes."""
    subprocess.run([sys.executable, "-c", BOMB, repeated], check=True, timeout=90)


PIECES = st.sampled_from(
    [*QUOTES, *QUOTES.values(), *"\\ \n,[]=:", "--", "reason", "reason=", "corpora: ", "top_k", "x"]
)


@given(st.lists(PIECES | st.text(max_size=3), max_size=30))
def test_any_text_is_read_or_refused(pieces: list[str]) -> None:
    text = "".join(pieces)
    for command in ("ask", "query"):
        try:
            read = parse_chat_command(f"@corpus:{command} {text}")
        except (InvalidRequest, MissingReason) as refused:
            assert "\n" not in str(refused)
        else:
            assert read is not None and read.command == command and read.question


TEXT = st.text(min_size=1, max_size=30).map(str.strip).filter(bool)
COMMANDS = st.builds(
    ChatCommand,
    command=st.sampled_from(["query", "ask"]),
    question=TEXT,
    access_reason=TEXT,
    corpora=st.none() | st.lists(TEXT, min_size=1, max_size=3, unique=True).map(tuple),
    strategy=st.none() | st.sampled_from(get_args(StrategyChoice)),
    top_k=st.none() | st.integers(1, 200),
    require_citations=st.none() | st.booleans(),
)


@given(command=COMMANDS, sign=st.sampled_from(["=", ": ", " = "]), draw=st.data())
def test_a_written_command_is_read_back(command: ChatCommand, sign: str, draw: st.DataObject) -> None:
    def quoted(text: str) -> str:
        opener, closer = draw.draw(st.sampled_from(sorted(QUOTES.items())))
        return opener + re.sub(rf"([\\{closer}”“])", r"\\\1", text) + closer

    parts = [f"access_reason{sign}{quoted(command.access_reason)}"]
    parts += [f"{name}{sign}{value}" for name, value in command.overrides.items()]
    if command.corpora:
        parts.append(f"corpus_ids{sign}[{', '.join(map(quoted, command.corpora))}]")
    ordered = draw.draw(st.permutations([quoted(command.question), *parts]))
    assert parse_chat_command(f"@corpus:{command.command} {' '.join(ordered)}") == command
