"""The served graph: who is let in, what is whose, and whether all is well. Loaded by the LangGraph server alone."""
