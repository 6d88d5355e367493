"""A corpus that no small prompt holds, and a scripted model that notes and combines what it says."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage

from citeloop.engine import RAGQueryEngine
from citeloop.state.config import RAGConfig
from citeloop.state.models import RAGResponse, UserContext
from citeloop.testing import ScriptedChatModel
from citeloop.testing.scripted_chat_model import Reply
from tests.handbook import engine_over, write_files
from tests.multi_query_fakes import prompt_of
from tests.strategy_fakes import documents_in

QUESTION = "Give me an overview of what the teams do."
TEAMS = {
    "Harbour": "paints the boats of the harbour in spring",
    "Orchard": "picks the apples of the northern orchard",
    "Archive": "binds old newspapers into leather volumes",
    "Kitchen": "bakes rye bread for the night watch",
    "Foundry": "casts bronze bells for village churches",
    "Stables": "shoes the horses of the mounted post",
    "Observatory": "counts meteors through the August nights",
    "Laundry": "washes the linen of three hospitals",
    "Garden": "grows medicinal herbs under glass",
    "Workshop": "repairs violins and other string instruments",
}
_FILLING = "It keeps a diary, meets on Mondays, and reports to the council once a year, as all teams of the town do. "
Answer = Reply | Callable[[str], Reply]


def page_of(team: str) -> str:
    return f"# {team}\n\nThe {team} team {TEAMS[team]}. {_FILLING * 5}\n"


def note_teams(prompt: str) -> str:
    """A line for each document of a prompt: what its team does."""
    said = [(label, text.split(".")[0].splitlines()[-1].strip()) for label, text in documents_in(prompt)]
    return "\n".join(f"{sentence}. [{label}]" for label, sentence in said)


def join_notes(prompt: str) -> str:
    """What a combiner makes of its prompt: all notes, one after the other."""
    return " ".join(line for note in notes_in(prompt) for line in note.splitlines())


def notes_in(prompt: str) -> list[str]:
    return re.findall(r"<note>\n(.*?)\n</note>", prompt, re.DOTALL)


def reply_by_prompt(**replies: Answer) -> Callable[[str], Reply]:
    told: dict[str, Answer] = {
        "partial_answer": note_teams,
        "partial_answers_combiner": join_notes,
        "answer": note_teams,
        **replies,
    }

    def reply(text: str) -> Reply:
        scripted = told[prompt_of(text)]
        return scripted(text) if callable(scripted) else scripted

    return reply


def noting_model(delay_s: float = 0.0, **replies: Answer) -> ScriptedChatModel:
    """Replies by the prompt it gets: as told, else with what each document, or each note, says."""
    answer = reply_by_prompt(**replies)

    def reply(messages: Sequence[BaseMessage]) -> Reply:
        return answer(messages[-1].text)

    return ScriptedChatModel(replies=reply, delay_s=delay_s)


def index_teams(folder: Path, pages: dict[str, str] | None = None) -> Path:
    """Index the teams' pages, or ``pages``, into ``folder / "home"`` and return that."""
    files = pages or {f"{team.lower()}.md": page_of(team) for team in TEAMS}
    engine_over(folder / "home").indexer.index([write_files(folder / "teams", files)], "teams", UserContext())
    return folder / "home"


def asked(**settings: Any) -> RAGConfig:
    """A window that holds two or three pages; by default no correction."""
    told = {"strategy": "exhaustive", "max_context_tokens": 1400, "max_correction_rounds": 0, **settings}
    return RAGConfig.model_validate(told)


def ask(engine: RAGQueryEngine, **settings: Any) -> RAGResponse:
    return engine.query(QUESTION, access_reason="t", config=asked(**settings))
