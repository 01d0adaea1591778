"""The rules of a game to read: its README as a page, where every numbered paragraph has an address of its own."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape
from msgspec import Struct

from engine import catalogue

NUMBERED = re.compile(r"(\d+(?:\.\d+)?)\s+(.+)")
SIGN = re.compile(r"§\s?(\d+(?:\.\d+)?)")
CITED = re.compile(r"(?:§\s?|\b(?:in|and|of|see) (?=\d+\.\d))(\d+(?:\.\d+)?)\b")


class Paragraph(Struct, frozen=True):
    """A numbered heading; a chapter has paragraphs of its own."""

    number: str
    title: str
    paragraphs: tuple[Paragraph, ...] = ()


class Rulebook(Struct, frozen=True):
    """The rules of one game: its chapters with their paragraphs, and all of it as HTML."""

    chapters: tuple[Paragraph, ...]
    html: Markup

    @property
    def numbers(self) -> frozenset[str]:
        """Every number that can be pointed at."""
        inner = {one.number for chapter in self.chapters for one in chapter.paragraphs}
        return frozenset(inner | {chapter.number for chapter in self.chapters})


@functools.cache
def read(name: str) -> Rulebook:
    """The rulebook of a game, written beside its code."""
    return parsed((catalogue.folder(name) / "README.md").read_text("utf-8"))


def parsed(text: str) -> Rulebook:
    """A rulebook from its Markdown; what looks like HTML stays text, and links lead to https or to paragraphs only."""
    reader = MarkdownIt("commonmark", {"html": False, "typographer": True}).enable(["table", "smartquotes"])
    reader.validateLink = _is_safe  # type: ignore[method-assign]  # this is how markdown-it lets itself be told
    tokens = reader.parse(text)
    chapters = tuple(_chapters(tokens))
    numbers = Rulebook(chapters, Markup()).numbers
    _dress(tokens, numbers)
    html = reader.renderer.render(tokens, reader.options, {})
    return Rulebook(chapters, Markup(html))  # noqa: S704 - markdown-it has escaped it


def cited(text: str, rules: str) -> Markup:
    """A sentence whose `§` lead to their paragraphs on the page of the rules."""
    linked = SIGN.sub(rf'<a class="rule" href="{escape(rules)}#\1">\g<0></a>', str(escape(text)))
    return Markup(linked)  # noqa: S704 - escaped just before


def _is_safe(url: str) -> bool:
    return url.startswith(("https://", "#"))


def _chapters(tokens: Sequence[Token]) -> Iterator[Paragraph]:
    """The table of contents."""
    chapter: Paragraph | None = None
    for tag, number, title in _headings(tokens):
        if tag == "h2":
            if chapter:
                yield chapter
            chapter = Paragraph(number, title)
        elif chapter:
            chapter = Paragraph(chapter.number, chapter.title, (*chapter.paragraphs, Paragraph(number, title)))
    if chapter:
        yield chapter


def _headings(tokens: Sequence[Token]) -> Iterator[tuple[str, str, str]]:
    for opening, inline in pairwise(tokens):
        match = NUMBERED.fullmatch(inline.content) if opening.type == "heading_open" else None
        if match:
            yield opening.tag, match[1], match[2]


def _dress(tokens: list[Token], numbers: frozenset[str]) -> None:
    """Numbered headings get an address, and what cites a paragraph leads there; the title is the page's own."""
    del tokens[:3]
    for place, token in enumerate(tokens):
        match = NUMBERED.fullmatch(token.content) if token.type == "inline" else None
        if match and tokens[place - 1].type == "heading_open":
            tokens[place - 1].attrSet("id", match[1])
            token.children = [*_link(match[1], match[1], "number"), _text(" " + match[2])]
        elif token.type == "inline":
            token.children = [one for child in token.children or [] for one in _cited(child, numbers)]


def _cited(token: Token, numbers: frozenset[str]) -> Iterator[Token]:
    """A piece of text, its citations as links."""
    if token.type != "text":
        yield token
        return
    end = 0
    for match in CITED.finditer(token.content):
        if match[1] in numbers:
            begin = match.start() if match[0].startswith("§") else match.start(1)
            yield _text(token.content[end:begin])
            yield from _link(match[1], token.content[begin : match.end()])
            end = match.end()
    yield _text(token.content[end:])


def _link(number: str, text: str, style: str = "") -> tuple[Token, Token, Token]:
    opening = Token("link_open", "a", 1, attrs={"href": f"#{number}", **({"class": style} if style else {})})
    return opening, _text(text), Token("link_close", "a", -1)


def _text(text: str) -> Token:
    return Token("text", "", 0, content=text)
