"""The prompt of a partial answer, and how much room it has: all of them must fit the prompt that combines them."""

from collections.abc import Sequence

from citeloop.prompts.conversation import show_question
from citeloop.prompts.grounded_answer import render_document
from citeloop.prompts.refusals import NO_EVIDENCE
from citeloop.retrieval.context_budget import ContextWindow, answer_room, passage_budget
from citeloop.retrieval.draft_prompt import DraftPrompt, cited_prompt, draft_prompt
from citeloop.state.graph_state import Passage, QueryState, Request
from citeloop.text.tokens import count_tokens

_WORDS_PER_TOKEN = 0.6
"""As ``count_tokens`` counts, which errs high; markers and signs included."""


def partial_answer_prompt(request: Request, passages: Sequence[Passage], room: int) -> DraftPrompt:
    """The prompt over one group of passages, whose answer is to take ``room`` tokens. Blocking."""
    documents = [render_document(p["number"], p["title"], p["heading_path"], p["text"]) for p in passages]
    return cited_prompt(
        "partial_answer",
        {
            "question": show_question(request["question"], request.get("asked", "")),
            "n": str(int(_WORDS_PER_TOKEN * room)),
            "refusal": NO_EVIDENCE,
        },
        {"documents": "\n".join(documents)},
    )


def group_budget(request: Request, settings: ContextWindow) -> int:
    """Tokens of passages that one group may have. Blocking. Raises ``InvalidRequest`` where there is no room."""
    return passage_budget(_tokens(partial_answer_prompt(request, [], settings.max_context_tokens)), settings)


def combined_room(state: QueryState, settings: ContextWindow) -> int:
    """Tokens of all partial answers that are combined. Blocking. Raises as ``group_budget`` does."""
    return passage_budget(_tokens(draft_prompt({**state, "partial_answers": [""]}, [])), settings)


def room_for_each(total: int, groups: int, settings: ContextWindow) -> int:
    """Tokens of each of ``groups`` partial answers that share ``total``; never more than an answer may have."""
    return min(total // groups, answer_room(settings))


def leading_lines(text: str, room: int) -> str:
    """As many whole lines of ``text`` as ``room`` tokens hold, and one at the least: a statement stands in one."""
    first, *rest = text.splitlines() or [""]
    kept, room = [first], room - count_tokens(first)
    for line in rest:
        room -= count_tokens(line)
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept)


def _tokens(prompt: DraftPrompt) -> int:
    return sum(count_tokens(message.text) for message in prompt.messages)
