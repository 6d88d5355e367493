"""Measuring the engine on folders of questions, claims and intents with known answers (``citeloop eval``)."""
