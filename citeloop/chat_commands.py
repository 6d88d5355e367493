"""Chat commands (ADR-031, Commands): ``@corpus:query`` and ``@corpus:ask``, as a person types them.

    @corpus:query "How long are logs kept?" access_reason="audit 12" corpus_ids=policies,handbook top_k=5
    @corpus:ask How long are logs kept? strategy: standard

The question comes first, in quotes or not, or as ``query=``. A parameter is ``name=value`` or ``name: value``. A value
with spaces stands in quotes of any kind, in which a backslash keeps a quote; a reason may do without them. Corpora are
parted by commas. What could be read in two ways is refused, not guessed: a misread scope would search more than was
meant. Reading takes time linear in the text's length.
"""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, get_args

from pydantic import ValidationError

from citeloop.errors import InvalidRequest, MissingReason
from citeloop.state.config import RAGConfig, StrategyChoice
from citeloop.state.graph_state import Command

EXAMPLE: Final = '@corpus:query "How long are logs kept?" access_reason="audit 12" corpus_ids=policies,handbook'

_COMMANDS: Final[dict[str, Command]] = {name: name for name in get_args(Command)}
_PARAMETERS: Final = {
    "query": "question",
    "question": "question",
    "access_reason": "access_reason",
    "reason": "access_reason",
    "corpus_ids": "corpus_ids",
    "corpora": "corpus_ids",
    "corpus": "corpus_ids",
    "strategy": "strategy",
    "top_k": "top_k",
    "require_citations": "require_citations",
}
"""What a person may write, and the name under which it is kept."""
_KNOWN: Final = "query, access_reason, corpus_ids, strategy, top_k and require_citations"

_COMMAND = re.compile(r"\s*+@corpus:([\w-]*+)\s*+", re.IGNORECASE)
_PARAMETER = re.compile(r"(?:--(?P<flag>[\w-]++)|(?P<name>[^\W\d][\w-]*+)\s*+(?P<sign>[=:])(?!=)\s*+)")
_SEPARATORS = re.compile(r"[\s,;]*+")
_GAP = re.compile(r"\s*+")
_WORD = re.compile(r"\S++")
_LIST_OPENS, _COMMA, _LIST_CLOSES = (re.compile(rf"\s*+{sign}\s*+") for sign in (r"\[", ",", r"\]"))
_SINGLE = re.compile(r"[^\s,;\[\]]++")
_CLOSERS: Final = {'"': '"', "“": "”", "„": "“”", "«": "»", "「": "」", "'": "'", "‘": "’"}
_QUOTED: Final = {  # ' and ’ before a letter are apostrophes: 'What's the limit?'
    opener: re.compile(rf"{opener}((?:[^{closers}\\]|\\.|['’](?=\w))*+)[{closers}]", re.DOTALL)
    for opener, closers in _CLOSERS.items()
}
_ESCAPED = re.compile(r"""\\([\\"'“”„«»「」‘’])""")
_SENTENCE_ENDS: Final = ".?!…。？！"
_ALIKE = 0.8
_SHOWN_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class ChatCommand:
    """A command as it was read; ``None`` where it leaves a choice to the run."""

    command: Command
    question: str
    access_reason: str = ""
    corpora: tuple[str, ...] | None = None
    strategy: StrategyChoice | None = None
    top_k: int | None = None
    require_citations: bool | None = None

    @property
    def overrides(self) -> dict[str, Any]:
        """The settings that the command gives, by the names of ``RAGConfig``."""
        settings = {"strategy": self.strategy, "top_k": self.top_k, "require_citations": self.require_citations}
        return {name: value for name, value in settings.items() if value is not None}


def parse_chat_command(text: str, *, access_reason: str = "") -> ChatCommand | None:
    """The command that ``text`` starts with; ``None`` for a plain question.

    ``access_reason`` is the one given beside the text, if any; one in the command rules. Raises ``MissingReason`` for a
    ``query`` with neither, ``InvalidRequest`` for what cannot be read: one line, with an example of what can.
    """
    opening = _COMMAND.match(text)
    if opening is None:
        return None
    command = _COMMANDS.get(opening[1].casefold())
    if command is None:
        raise _refusal(f"no command {_shown('@corpus:' + opening[1])}: the commands are @corpus:query and @corpus:ask")
    reader = _Reader(text, opening.end())
    given = reader.read()
    question, reason = given.pop("question", "").strip(), given.pop("access_reason", access_reason).strip()
    if not question:
        raise _refusal("the question is missing")
    if command == "query" and not reason:
        raise MissingReason(f"access_reason is missing: say why you ask; for example {EXAMPLE}")
    corpora = tuple(dict.fromkeys(reader.corpora)) or None
    return ChatCommand(command, question, reason, corpora, **_settings(given))


def _settings(given: dict[str, str]) -> dict[str, Any]:
    if "strategy" in given:
        given["strategy"] = given["strategy"].casefold().replace("-", "_")
    try:
        return RAGConfig.model_validate(given).model_dump(include=set(given))
    except ValidationError as error:
        first = error.errors()[0]
        raise _refusal(f"{first['loc'][0]} {_shown(str(first['input']))}: {first['msg']}") from None


class _Reader:
    """Reads question and parameters from left to right; ``corpora`` holds the names read so far."""

    def __init__(self, text: str, position: int) -> None:
        self._text = text
        self._position = position
        self._given: dict[str, str] = {}
        self._unclosed: set[str] = set()
        """Quotes of which no further one closes: looking again for each would take quadratic time."""
        self.corpora: list[str] = []

    def read(self) -> dict[str, str]:
        """Everything but the corpora, by name. Raises ``InvalidRequest``."""
        while not self._at_end():
            name = self._take_name()
            if name is None:
                self._keep_question()
            elif name == "corpus_ids":
                self.corpora += self._take_list()
            elif name in self._given:
                raise _refusal(f"{name} is given twice")
            else:
                self._given[name] = self._take_text() if name in ("question", "access_reason") else self._take_single()
            self._skip(_SEPARATORS)
        return self._given

    def _keep_question(self) -> None:
        start, quoted = self._position, self._take_quoted()
        more = self._take_words(prose=True)
        question = _bare(self._text[start : self._position]) if quoted is None or more else quoted
        if "question" in self._given:
            raise _refusal(f"cannot place {_shown(question)}: a value with spaces stands in quotes")
        self._given["question"] = question

    def _take_name(self) -> str | None:
        found = self._parameter()
        if found is None:
            return None
        self._position = found.end()
        if self._at_end() or self._parameter():
            raise _refusal(f"{found['name']} needs a value")
        return _PARAMETERS[_normal(found["name"])]

    def _take_text(self) -> str:
        quoted = self._take_quoted()
        return self._take_words(prose=False) if quoted is None else quoted

    def _take_single(self) -> str:
        quoted = self._take_quoted()
        return self._skip(_SINGLE) if quoted is None else quoted

    def _take_list(self) -> list[str]:
        bracketed = bool(self._skip(_LIST_OPENS))
        names = [self._take_single()]
        while self._skip(_COMMA) and not self._parameter():
            names.append(self._take_single())
        if bracketed and not self._skip(_LIST_CLOSES):
            raise _refusal("the list of corpora is not closed by a ]")
        if not all(name.strip() for name in names):
            raise _refusal("a name is missing among the corpora")
        return names

    def _take_words(self, *, prose: bool) -> str:
        """Everything up to the next parameter; in ``prose``, none may start within a sentence."""
        self._skip(_SEPARATORS)
        start, between_sentences = self._position, True
        while not self._at_end() and not self._parameter(within_sentence=prose and not between_sentences):
            if self._take_quoted(or_word=True) is None:
                self._skip(_WORD)
            last = self._text[self._position - 1]
            between_sentences = "\n" in self._skip(_GAP) or last in _SENTENCE_ENDS
        return _bare(self._text[start : self._position])

    def _take_quoted(self, *, or_word: bool = False) -> str | None:
        """What stands in the quotes that open here; ``None`` where none do. Quotes that never close are refused, unless
        they may begin a word, as in ``the '90s``.
        """
        opener = self._text[self._position : self._position + 1]
        if opener not in _QUOTED:
            return None
        found = None if opener in self._unclosed else _QUOTED[opener].match(self._text, self._position)
        if found is not None:
            self._position = found.end()
            return _ESCAPED.sub(r"\1", found[1])
        self._unclosed.add(opener)
        if or_word:
            return None
        raise _refusal(f"a quote is not closed: {_shown(self._text[self._position :])}")

    def _parameter(self, *, within_sentence: bool = False) -> re.Match[str] | None:
        """The parameter that starts here, if any; what merely looks like one is refused."""
        found = _PARAMETER.match(self._text, self._position)
        if found is None:
            return None
        written = found["flag"] or found["name"]
        name = _normal(written)
        alike = [name] if name in _PARAMETERS else get_close_matches(name, _PARAMETERS, 1, _ALIKE)
        if not alike and not _is_tight(found):
            return None
        if found["flag"]:
            raise _refusal(f"write {alike[0]}=... for --{written}")
        if found["sign"] == ":" and within_sentence:
            raise _refusal(f"'{written}:' may be {alike[0]} or part of the question: put the question in quotes")
        if name not in _PARAMETERS:
            raise _refusal(f"no parameter {_shown(written)}: they are {_KNOWN}; a question with a = in it is quoted")
        return found

    def _skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._position)
        if found is None:
            return ""
        self._position = found.end()
        return found[0]

    def _at_end(self) -> bool:
        return self._position == len(self._text)


def _is_tight(found: re.Match[str]) -> bool:
    """Whether it is ``name=value`` without a space, which prose hardly ever is."""
    return found[0] == f"{found['name']}=" and found.end() < len(found.string)


def _normal(name: str) -> str:
    return name.casefold().replace("-", "_")


def _bare(text: str) -> str:
    return text.strip().rstrip(",;").rstrip()


def _shown(text: str) -> str:
    """``text`` short and on one line."""
    line = " ".join(text[: 2 * _SHOWN_CHARACTERS].split())
    return repr(line if len(line) <= _SHOWN_CHARACTERS else line[:_SHOWN_CHARACTERS] + "...")


def _refusal(problem: str) -> InvalidRequest:
    return InvalidRequest(f"{problem}; for example {EXAMPLE}")
