"""The text of an answer: its citations, its sentences and clauses, and what can be taken out of it."""
