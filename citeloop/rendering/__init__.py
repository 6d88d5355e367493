"""An answer as people read it: Markdown with footnotes, and a page on which each claim shows its source."""
