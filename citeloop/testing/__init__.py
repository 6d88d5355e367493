"""Fakes for tests of applications built on citeloop: real LangChain parts, scripted."""

from citeloop.testing.keyed_retriever import KeyedRetriever
from citeloop.testing.scripted_chat_model import ScriptedChatModel

__all__ = ["KeyedRetriever", "ScriptedChatModel"]
