"""Checking an answer: citation markers, claims, support of each claim by its sources, confidence."""
