"""The page of an answer, as text: what it says, and that nothing of what it shows can act."""

import base64
import hashlib
import re
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from citeloop.rendering.evidence import quote_in_passage
from citeloop.rendering.places import safe_link
from citeloop.rendering.verdicts import STATUSES
from citeloop.state.models import AnswerStatus, Conflict, RAGResponse
from tests.answers import AFTER, BEFORE, LEAVE, Said, passages_of, response_of

ALLOWED = set(
    "html head meta title style body header main section article div figure figcaption blockquote details summary h1 h2"
    " h3 p ul ol li dl dt dd a span strong small code pre mark cite q bdi".split()
)
HOSTILE = (
    "</title></style></blockquote><script>window.ran = 1</script><img src=x onerror=alert(1)>"
    "<style>*{display:none}</style><a href='javascript:alert(1)'>x</a>\"' autofocus onfocus=alert(1) x=\"&lt;\x00\u202e"
)


def parsed(response: RAGResponse, said: tuple[Said, ...] = LEAVE) -> LexborHTMLParser:
    return LexborHTMLParser(response.to_html(passages_of(said)))


def text_of(page: LexborHTMLParser, selector: str) -> list[str]:
    return [" ".join(node.text().split()) for node in page.css(selector)]


def test_each_claim_leads_to_its_sentence_within_its_passage() -> None:
    page = parsed(response_of())
    assert text_of(page, "#evidence-1 mark") == [LEAVE[0].source]
    assert page.css_first("#evidence-1 blockquote").text() == BEFORE + LEAVE[0].source + AFTER
    assert text_of(page, "#evidence-1 figcaption") == ["[1] Handbook 1 > People > Leavehttps://handbook.example/1"]
    assert page.css_first("#claim-1").attributes["href"] == "#evidence-1"


def test_verdicts_have_a_sign_and_a_name() -> None:
    assert text_of(parsed(response_of()), ".claim") == [
        "Parental leave lasts 16 weeks.\u2060✓ (Supported)",
        "It is asked for by letter.\u2060◐ (Partly supported)",
        "Hotels cost at most 150 euros.\u2060✗ (Contradicted)",
        "Everyone likes it.\u2060? (Not supported)",
    ]


def test_without_passages_the_sentence_stands_alone() -> None:
    page = LexborHTMLParser(response_of().to_html())
    assert text_of(page, "#evidence-1 blockquote") == [LEAVE[0].source]


@pytest.mark.parametrize("status", get_args(AnswerStatus))
def test_every_status_has_its_words(status: AnswerStatus) -> None:
    assert text_of(parsed(response_of(status=status)), ".summary .status") == [STATUSES[status].label]


def test_status_conflicts_sources_and_course_are_told() -> None:
    conflict = Conflict(about="the limit", values=("140 euros", "150 euros"), citation_ids=(3, 1))
    trace = {"queries": [{"query": "parental leave", "origin": "rewrite"}]}
    page = parsed(response_of(status="low_confidence", confidence=0.41, conflicts=(conflict,), trace=trace))
    assert text_of(page, ".banner") == [
        "Low confidence. Not every check passed: read the sources before you rely on it.",
        "Sources disagree on the limit: 140 euros [3], 150 euros [1]",
    ]
    assert "Confidence 0.41" in text_of(page, ".summary li")
    assert len(page.css(".sources li")) == 3
    assert "parental leave rewrite" in text_of(page, "details li")


def test_a_refusal_has_neither_confidence_nor_claims() -> None:
    page = LexborHTMLParser(RAGResponse(answer="No evidence found", status="no_evidence", confidence=0.0).to_html())
    assert text_of(page, "#answer p") == ["No evidence found"]
    assert (page.css(".claim, .evidence, .sources"), text_of(page, ".summary li")) == ([], ["No evidence"])


def test_the_policy_allows_the_style_of_the_page_and_nothing_else() -> None:
    html = response_of().to_html()
    [style] = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = LexborHTMLParser(html).css_first("meta[http-equiv]").attributes["content"]
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def hostile_page(text: str) -> str:
    said = tuple(Said(f"{text} claim {n}", "partly", f"{text} source {n}", text, (text,)) for n in (1, 2))
    response = response_of(said, question=text)
    odd = {"uri": f"javascript:{text}", "document_title": text, "heading_path": (text,), "label": text}
    citations = tuple(citation.model_copy(update=odd) for citation in response.citations)
    sources = tuple(source.model_copy(update={"uri": text, "title": text}) for source in response.sources)
    conflict = Conflict(about=text, values=(text, text), citation_ids=(1, 2))
    trace = {"analysis": {"reason": text}, "queries": [{"query": text, "origin": text}]}
    update = {"citations": citations, "sources": sources, "conflicts": (conflict,), "trace": trace}
    return response.model_copy(update=update).to_html(passages_of(said))


def assert_inert(html: str) -> None:
    page = LexborHTMLParser(html)
    for node in page.css("*"):
        assert node.tag in ALLOWED
        names = node.attributes.keys()
        assert not [name for name in names if name.startswith("on") or name in ("style", "src", "autofocus")]
        assert re.match(r"#|https?://|file:/", node.attributes.get("href") or "#")
    assert len(page.css("style")) == 1
    html.encode("utf-8")


def test_hostile_text_is_shown_and_does_nothing() -> None:
    html = hostile_page(HOSTILE)
    assert_inert(html)
    assert not re.search("[\x00\u202e]", html)
    assert "<script>window.ran = 1</script>" in LexborHTMLParser(html).css_first("#evidence-1 mark").text()


@settings(max_examples=60, deadline=None)
@given(
    st.text(alphabet=st.one_of(st.sampled_from("<>\"'&/=`*[]()#-\n{}%\x00\u202e\ud800"), st.characters()), max_size=60)
)
def test_no_text_makes_an_element_of_its_own(text: str) -> None:
    assert_inert(hostile_page(text or "x"))


@pytest.mark.parametrize(
    ("uri", "link"),
    [
        ("https://handbook.example/a?b=c#page=3", True),
        ("HTTP://handbook.example/", True),
        ("file:///srv/handbook/leave.md", True),
        ("leave.md", False),
        ("//handbook.example/", False),
        ("javascript:alert(1)", False),
        ("java\nscript:alert(1)", False),
        (" javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("https:alert(1)", False),
        ("https://[", False),
        ("https://a\u202eb/", False),
        ("", False),
    ],
)
def test_only_addresses_that_are_safe_become_links(uri: str, link: bool) -> None:
    assert safe_link(uri) == (uri if link else "")


def test_a_sentence_is_looked_for_when_its_passage_has_changed() -> None:
    [citation] = response_of(LEAVE[:1]).citations
    moved = quote_in_passage(citation, f"New. {citation.source_text} Old.", 500)
    assert (moved.before, moved.after) == ("New. ", " Old.")
    assert quote_in_passage(citation, "Something else.", 500) == ("", citation.source_text, "")


def test_lines_that_were_full_run_on() -> None:
    [citation] = response_of(LEAVE[:1]).citations
    quoted = quote_in_passage(citation, f"Owner: People\n\n{'word ' * 12}\nmore. {citation.source_text}\n- item", 0)
    assert quoted.before == f"Owner: People\n\n{'word ' * 12} more. "
    assert quoted.after == "\n- item"


def test_of_a_long_passage_only_what_is_near_the_sentence_is_shown() -> None:
    [citation] = response_of(LEAVE[:1]).citations
    quoted = quote_in_passage(citation, "word " * 400 + citation.source_text + " word" * 400, 0)
    assert quoted.before.startswith("… word ")
    assert quoted.after.endswith(" word …")
    assert len(quoted.before) + len(quoted.after) < 620
