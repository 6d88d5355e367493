"""Plain text: sentences, words and token counts. Imports nothing of ours."""
