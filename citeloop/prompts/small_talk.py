"""What is said where nothing is asked of the documents."""

SMALL_TALK_REPLY = (
    "I answer questions from the documents that are open to you, and cite the passages that each answer rests on. "
    "Ask me something that they may hold."
)
"""The one reply to greetings, thanks and questions about the assistant itself: it claims nothing of any document."""
