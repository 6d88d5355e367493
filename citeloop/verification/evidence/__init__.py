"""Whether sources say what a claim says: quotes, the support score, contradictions, conflicts between sources."""
