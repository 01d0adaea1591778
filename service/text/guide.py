"""The guide for players: one Markdown file for each language in `templates/help/`, turned into HTML with anchors."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup
from msgspec import Struct

from service.text.templates import TEMPLATES

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

FOLDER = TEMPLATES / "help"
STATIC = "../static/"  # the folder of the pictures, seen from the guide


class Heading(Struct, frozen=True):
    """A heading of the guide, and the anchor that leads to it."""

    key: str
    title: str


class Guide(Struct, frozen=True):
    """The guide in one language, as HTML."""

    title: str
    headings: tuple[Heading, ...]
    html: Markup


@functools.cache
def load_guide(language: str) -> Guide:
    """Load the guide in this language."""
    return parse_guide((FOLDER / f"{language}.md").read_text("utf-8"))


def make_markdown() -> MarkdownIt:
    """Return what parses and renders the Markdown of a guide."""
    from markdown_it import MarkdownIt  # 2 MB that most processes never need

    return MarkdownIt("commonmark", {"html": False}).enable(["table"])


def parse_guide(text: str) -> Guide:
    """Turn the Markdown of a guide into HTML: headings get anchors, and addresses of pages become links."""
    markdown = make_markdown()
    title, *tokens = _take_title(markdown.parse(text))
    headings = tuple(_add_anchors(tokens))
    for token in tokens:
        if token.type == "inline":
            token.children = [one for child in token.children or () for one in _adapt(child)]
        elif token.type == "table_open":
            token.attrSet("tabindex", "0")  # on a narrow window a wide table is scrolled by keys too
    html = markdown.renderer.render(tokens, markdown.options, {})
    return Guide(title.content, headings, Markup(html))  # noqa: S704 - markdown-it has escaped it


def _take_title(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Return the text of the first heading, and all that follows it."""
    _, title, _, *rest = tokens
    return title, *rest


def _add_anchors(tokens: Sequence[Token]) -> Iterator[Heading]:
    """Give each heading its anchor."""
    for token, inner in itertools.pairwise(tokens):
        if token.type == "heading_open":
            heading = Heading(make_anchor(inner.content), inner.content)
            token.attrSet("id", heading.key)
            yield heading


def make_anchor(heading: str) -> str:
    """Return the anchor that code hosts give to a heading, so that links work here and there."""
    return re.sub(r"[^\w -]", "", heading.casefold()).replace(" ", "-")


def _adapt(token: Token) -> tuple[Token, ...]:
    """Change what differs on a page of the service: where pictures are, and that addresses of pages are links."""
    from markdown_it.token import Token

    if token.type == "image":
        token.attrSet("src", str(token.attrGet("src")).replace(STATIC, "/static/"))
    if token.type == "code_inline" and token.content.startswith("/"):
        return Token("link_open", "a", 1, attrs={"href": token.content}), token, Token("link_close", "a", -1)
    return (token,)
