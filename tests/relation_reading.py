"""What tests of relations share: a chat endpoint that reads them by a pattern, and files that state some."""

import json
import re
from pathlib import Path

from langchain_core.language_models import BaseChatModel

from citeloop.engine import RAGQueryEngine
from citeloop.knowledge.relation_indexer import RelationIndexer
from citeloop.models.chat import build_chat_model
from citeloop.models.chat_caller import ChatCaller
from citeloop.models.relation_extractor import RelationExtractor
from citeloop.prompts import load_prompt
from citeloop.settings import Settings
from citeloop.state.models import UserContext
from citeloop.workers import WorkerPool
from tests.integration.knowledge_stack import KnowledgeStack
from tests.openai_stub import OpenAIStub

_STATED = re.compile(r"\b([A-Z]\w+(?: [A-Z]\w+)?) ((?:was |is )?\w+ (?:by|in|for|of)) ([A-Z]\w+(?: [A-Z]\w+)?)")


def read_by_pattern(prompt: str) -> str:
    """What a model replies that finds "Amber Tide was directed by Marta Quist" and the like in a prompt's document."""
    relations = [
        {"subject": subject, "relation": relation.removeprefix("was ").removeprefix("is "), "object": target}
        for subject, relation, target in _STATED.findall(document_in(prompt))
    ]
    return json.dumps({"relations": relations})


def document_in(prompt: str) -> str:
    """The one document of the prompt, up to where it is closed."""
    return prompt.partition("<document")[2].partition("</document>")[0].partition(">")[2]


def indexer_over(stack: KnowledgeStack, stub: OpenAIStub, **settings: object) -> RelationIndexer:
    """Reads the relations of ``stack`` with the model behind ``stub``."""
    return RelationIndexer(stack.store, extractor_of(stub, **settings))


def extractor_of(stub: OpenAIStub, **settings: object) -> RelationExtractor:
    given = {"openai_base_url": stub.base_url, "chat_max_retries": 0, "chat_timeout_s": 20, **settings}
    model = build_chat_model(Settings(**given), _no_fallback)
    return RelationExtractor(ChatCaller(model, WorkerPool(4)), load_prompt("relation_extractor"))


def read_relations(engine: RAGQueryEngine, stub: OpenAIStub, *corpora: str) -> None:
    """Read the relations of an engine's corpora, as the command line's user."""
    stub.answer = read_by_pattern
    for corpus in corpora:
        RelationIndexer(engine.store, extractor_of(stub)).read(corpus, UserContext())


def _no_fallback() -> BaseChatModel:
    raise AssertionError("an endpoint is configured")


def write_films(folder: Path, *names: str, director: str = "Marta Quist") -> Path:
    """A file for each film, of one chunk, that says who directed it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        text = f"# {name}\n\nA notebook. {name} was directed by {director}.\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder
