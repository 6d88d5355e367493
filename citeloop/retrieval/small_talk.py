"""Is anything asked of the documents at all? Greetings, thanks and questions about the assistant itself are not.

A real question that is taken for small talk gets no answer, so two things must agree: the model, and the words, all of
which but one small talk is made of. A number, a quotation or any two words of a subject make it a question.
"""

import re

from citeloop.retrieval.question_kinds import QuestionModels, Vector
from citeloop.text.words import content_stems, words

SMALL_TALK_FROM = 0.5
"""Probability from which a text counts as small talk, if all its content words are words of small talk."""

SURE_FROM = 0.7
"""The same where one of them is not."""

_MOST_CHARACTERS = 120
_SUBJECT = re.compile(r"[\d\"“”«»()\[\]@#/]")
_OPENERS = (
    r"(?:hi|hello|hey|yo|greetings|good (?:morning|afternoon|evening|day|night)|hallo|hola|bonjour|ciao|servus|moin)"
)
_THANKS = r"(?:thanks?|thank you|thx|many thanks|cheers|danke|merci|gracias|much appreciated)"
_ENDS = r"(?:bye|goodbye|bye bye|see you|see you later|farewell|tschüss|adios|au revoir)"
_ADDED = r"(?: (?:there|all|everyone|again|you|so much|very much|a lot|a bunch|for (?:your|the) help|for that|schön))*"
_ABOUT_ASSISTANT = (
    r"(?:who|what) are you(?: exactly)?|what(?:'s| is) your name|who (?:made|built|created) you|how are you(?: today)?"
    r"|are you (?:an? )?(?:ai|bot|robot|human|real|person|machine)|what can you do(?: for me)?|what do you do"
    r"|how can you help(?: me)?|can you help me|what can i ask(?: you)?|how do you work|help"
)
_POLITE = (
    rf"(?:(?:{_OPENERS}|{_THANKS}|{_ENDS}|ok|okay|great|nice|cool|perfect|please|well){_ADDED}|{_ABOUT_ASSISTANT})"
)
_COURTESY = re.compile(rf"{_POLITE}(?: {_POLITE}){{0,2}}")


def is_courtesy(text: str) -> bool:
    """Whether ``text`` is a greeting, thanks, a farewell, or a plain question about the assistant, and nothing else.

    By its words alone: for certain, so that it holds in the middle of a conversation as well.
    """
    if len(text) > _MOST_CHARACTERS:
        return False
    plain = " ".join(re.sub(r"[^\w' ]+", " ", text.replace("’", "'").casefold()).split())
    return _COURTESY.fullmatch(plain) is not None


def is_small_talk(text: str, models: QuestionModels, vector: Vector | None) -> bool:
    """Whether ``text`` asks nothing of the documents; ``vector`` None: by ``is_courtesy`` alone."""
    if is_courtesy(text):
        return True
    if vector is None or not words(text) or len(text) > _MOST_CHARACTERS or _SUBJECT.search(text):
        return False
    unknown = set(content_stems(text)) - models.small_talk_words
    wanted = SURE_FROM if unknown else SMALL_TALK_FROM
    return len(unknown) <= 1 and models.small_talk_probability(text, vector) >= wanted
