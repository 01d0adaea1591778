"""Texts in Markdown: the rule book of a game, and the guide for players.

A book is `book/<language>.md` in the folder of its game; every numbered paragraph has an address of its own, and
`engine/PACKAGE.md` says how to write one. A game without a book shows its README. The guide is in `templates/help/`.
"""

from __future__ import annotations

import functools
import itertools
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from markupsafe import Markup, escape
from msgspec import Struct

from engine import catalogue
from service.text import lessons
from service.text.languages import SOURCE
from service.text.templates import TEMPLATES

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# “## 4 Title”, “### 4.2 Title”, or “## Title {#word}” where sections have no numbers.
HEADING = re.compile(r"(##|###) (?:(\d+(?:\.\d+)?)\s+)?(.+?)(?: \{#([a-z]+)\})?")
SECTION_SIGN = re.compile(r"§\s?(\d+(?:\.\d+)?)")
# “§4”, “in 4.2” (a number without a point might count something), or a mark of a ruling such as “[^A]”.
CITATION = re.compile(r"(?:§\s?|\b(?:in|and|of|see) (?=\d+\.\d))(?P<number>\d+(?:\.\d+)?)\b|\[\^(?P<ruling>\w+)\]")
# “[^A]: a ruling”, up to an empty line or the next ruling; in the text, “[^A]” refers to it.
RULING = re.compile(r"^\[\^(\w+)\]: (.+?)(?=\n\n|\n\[\^|\Z)", re.DOTALL | re.MULTILINE)
RULING_MARK = re.compile(r"\[\^(\w+)\](?!:)")
# “![caption](name of a scenario file)”, alone in a line.
EXAMPLE = re.compile(r"^!\[([^]]+)\]\(([a-z0-9_]+)\)$", re.MULTILINE)
FOLDER = TEMPLATES / "help"
STATIC = "../static/"  # the folder of the pictures, seen from the guide


class Section(Struct, frozen=True):
    """A heading and the text below it, in Markdown; `key` is its number, or a word where sections have no numbers."""

    level: int
    key: str
    title: str
    text: str

    @property
    def is_numbered(self) -> bool:
        return self.key[:1].isdigit()

    @property
    def examples(self) -> tuple[str, ...]:
        """The names of the scenario files that this section shows."""
        return tuple(name for _, name in EXAMPLE.findall(self.text))

    @property
    def marks(self) -> tuple[str, ...]:
        """The codes of the rulings that this section refers to."""
        return tuple(dict.fromkeys(RULING_MARK.findall(self.text)))

    @property
    def citations(self) -> tuple[str, ...]:
        """The numbers of the paragraphs that this section cites, sorted: a translation may cite in another order."""
        return tuple(sorted({match["number"] for match in CITATION.finditer(self.text) if match["number"]}))


class Manuscript(Struct, frozen=True):
    """A book in Markdown: the text before the first heading, the sections in their order, and the rulings."""

    preface: str
    sections: tuple[Section, ...]
    rulings: dict[str, str]


class RulesChapter(Struct, frozen=True):
    """A section as HTML, with its paragraphs."""

    key: str
    title: Markup
    html: Markup
    paragraphs: tuple[RulesChapter, ...] = ()

    @property
    def number(self) -> str:
        """Its number; empty where sections have no numbers."""
        return self.key if self.key[:1].isdigit() else ""


class Rulebook(Struct, frozen=True):
    """The rules of one game in one language, as HTML."""

    language: str
    preface: Markup
    chapters: tuple[RulesChapter, ...]

    @property
    def by_key(self) -> dict[str, RulesChapter]:
        """All chapters and paragraphs by their keys, which are their addresses on the page."""
        return {one.key: one for chapter in self.chapters for one in (chapter, *chapter.paragraphs)}

    @property
    def numbers(self) -> frozenset[str]:
        """The numbers of all paragraphs."""
        return frozenset(key for key in self.by_key if key[:1].isdigit())

    @property
    def html(self) -> Markup:
        """The whole book."""
        return self.preface + Markup("\n").join(chapter.html for chapter in self.chapters)


def get_path(name: str, language: str) -> Path:
    """Return the file of a game's book in this language."""
    return catalogue.get_folder(name) / "book" / f"{language}.md"


@functools.cache
def load_rulebook(name: str, language: str = SOURCE) -> Rulebook:
    """Load the book of a game: in this language, else in English, else the README of the game."""
    for one in (language, SOURCE):
        if get_path(name, one).exists():
            return parse_rulebook(get_path(name, one).read_text("utf-8"), one, name)
    return parse_rulebook((catalogue.get_folder(name) / "README.md").read_text("utf-8"))


def load_things(name: str) -> list[dict[str, str]]:
    """Load which paragraph (`rule`) explains the things on the board whose names fit a `pattern`.

    The first pattern that fits a name counts. A game without the file has none.
    """
    path = catalogue.get_folder(name) / "book" / "things.toml"
    things: list[dict[str, str]] = tomllib.loads(path.read_text("utf-8"))["things"] if path.exists() else []
    return things


def parse_manuscript(text: str) -> Manuscript:
    """Split the Markdown of a book into sections; lines in a block of code are never headings."""
    rulings = {code: " ".join(ruling.split()) for code, ruling in RULING.findall(text)}
    preface = list[str]()
    sections = list[tuple[re.Match[str], list[str]]]()  # each with its heading and its lines
    is_code = False
    for line in RULING.sub("", text).splitlines():
        if line.startswith("```"):
            is_code = not is_code
        heading = None if is_code else HEADING.fullmatch(line)
        if heading:
            sections.append((heading, []))
        elif sections:
            _, lines = sections[-1]
            lines.append(line)
        elif not line.startswith("# "):  # the title of the book is not part of its preface
            preface.append(line)
    made = tuple(_make_section(heading, lines) for heading, lines in sections)
    return Manuscript("\n".join(preface), made, rulings)


def _make_section(heading: re.Match[str], lines: Sequence[str]) -> Section:
    """Make a section; its key is the number of `### 3.1 Title`, the word of `## Title {#word}`, or else empty."""
    signs, number, title, word = heading.groups()
    return Section(len(signs), number or word or "", title, "\n".join(lines).strip())


def parse_rulebook(text: str, language: str = SOURCE, game: str = "") -> Rulebook:
    """Turn the Markdown of a book into HTML; HTML in it is escaped, and links lead to https or to paragraphs only."""
    return _Renderer(parse_manuscript(text), language, game).render()


def link_citations(text: str, rules: str) -> Markup:
    """Link each `§` of a sentence to its paragraph on the page `rules`."""
    html = SECTION_SIGN.sub(rf'<a class="rule" href="{escape(rules)}#\1">\g<0></a>', str(escape(text)))
    return Markup(html)  # noqa: S704 - escaped just before


class _Renderer:
    """Turns one manuscript into HTML."""

    def __init__(self, manuscript: Manuscript, language: str, game: str) -> None:
        from markdown_it import MarkdownIt  # 2 MB that most processes never need

        self._manuscript, self._language, self._game = manuscript, language, game
        self._keys = frozenset(section.key for section in manuscript.sections)
        self._markdown = MarkdownIt("commonmark", {"html": False, "typographer": True}).enable(["table"])
        self._markdown.validateLink = _is_safe_link  # type: ignore[method-assign]  # markdown-it has no other setting for it
        if language == SOURCE:
            self._markdown.enable(["smartquotes"])  # the English ones

    def render(self) -> Rulebook:
        """Return the book as HTML."""
        chapters = list[list[Section]]()
        for section in self._manuscript.sections:
            if section.level == 2:
                chapters.append([])
            if chapters:  # a paragraph before the first chapter is left out
                chapters[-1].append(section)
        preface = self._render_prose(self._manuscript.preface)
        return Rulebook(self._language, preface, tuple(map(self._render_chapter, chapters)))

    def _render_chapter(self, sections: Sequence[Section]) -> RulesChapter:
        """Render the sections of a chapter: the first has its heading, the others are its paragraphs."""
        head, *paragraphs = map(self._render_section, sections)
        html = head.html + Markup("\n").join(one.html for one in paragraphs)
        return RulesChapter(head.key, head.title, Markup("<section>{}</section>").format(html), tuple(paragraphs))

    def _render_section(self, section: Section) -> RulesChapter:
        """Render one section by itself: its heading, its text, and the rulings that it refers to."""
        title = Markup(self._render_inline(section.title))  # noqa: S704 - markdown-it has escaped it
        html = self._render_heading(section, title) + self._render_body(section.text)
        return RulesChapter(section.key, title, html + self._render_rulings(section.marks))

    def _render_heading(self, section: Section, title: Markup) -> Markup:
        """Render a heading that links can lead to; its number is a link to itself."""
        tag = f"h{section.level}"
        number = Markup('<a href="#{0}" class="number">{0}</a> ').format(section.key) if section.is_numbered else ""
        name = Markup(' id="{}"').format(section.key) if section.key else ""
        return Markup("<{0}{1}>{2}{3}</{0}>\n").format(Markup(tag), name, number, title)  # noqa: S704 - h2 or h3

    def _render_body(self, text: str) -> Markup:
        """Render prose, and the examples in it."""
        html = Markup()
        end = 0
        examples = EXAMPLE.finditer(text) if self._game else ()
        for match in examples:
            caption_text, example = match.groups()
            caption = Markup(self._render_inline(caption_text))  # noqa: S704 - markdown-it has escaped it
            html += self._render_prose(text[end : match.start()])
            html += lessons.render_example(self._game, example, self._language, caption)
            end = match.end()
        return html + self._render_prose(text[end:])

    def _render_prose(self, text: str) -> Markup:
        """Render paragraphs, lists and tables."""
        tokens = self._markdown.parse(text)
        self._link_all(tokens)
        return Markup(self._markdown.renderer.render(tokens, self._markdown.options, {}))  # noqa: S704 - escaped there

    def _render_inline(self, text: str) -> str:
        """Render a text that is part of a line, such as a title."""
        tokens = self._markdown.parseInline(text)
        self._link_all(tokens)
        return str(self._markdown.renderer.render(tokens, self._markdown.options, {}))

    def _render_rulings(self, marks: Sequence[str]) -> Markup:
        """Render the rulings of a paragraph, which are shown below it."""
        rulings = [(code, self._manuscript.rulings[code]) for code in marks if code in self._manuscript.rulings]
        return Markup("").join(
            Markup('<p class="ruling"><b>{}</b> {}</p>\n').format(code, Markup(self._render_inline(ruling)))  # noqa: S704
            for code, ruling in rulings
        )

    def _link_all(self, tokens: Sequence[Token]) -> None:
        """Link citations to their paragraphs, and turn references to rulings into small signs."""
        for token in tokens:
            if token.type == "inline":
                token.children = [one for child in token.children or [] for one in self._link_text(child)]

    def _link_text(self, token: Token) -> Iterator[Token]:
        """Split a text into plain text, links for its citations, and signs for its rulings."""
        if token.type != "text":
            yield token
            return
        end = 0
        for match in CITATION.finditer(token.content):
            if match["ruling"] in self._manuscript.rulings:
                yield _make_text(token.content[end : match.start()].rstrip(" "))  # no space before the sign
                yield from _make_sign(match["ruling"])
                end = match.end()
            elif match["number"] in self._keys:
                is_sign = match[0].startswith("§")  # the § belongs to the link; a word such as “in” does not
                begin = match.start() if is_sign else match.start("number")
                yield _make_text(token.content[end:begin])
                yield from _make_link(f"#{match['number']}", _make_text(token.content[begin : match.end()]))
                end = match.end()
        yield _make_text(token.content[end:])


def _is_safe_link(url: str) -> bool:
    return url.startswith(("https://", "#"))


def _make_link(address: str, inner: Token) -> tuple[Token, Token, Token]:
    begin = _make_token("link_open", "a", nesting=1, attrs={"href": address})
    return begin, inner, _make_token("link_close", "a", nesting=-1)


def _make_sign(code: str) -> tuple[Token, Token, Token]:
    return _make_token("sup_open", "sup", nesting=1), _make_text(code), _make_token("sup_close", "sup", nesting=-1)


def _make_text(text: str) -> Token:
    return _make_token("text", tag="", nesting=0, content=text)


def _make_token(kind: str, tag: str, nesting: Literal[-1, 0, 1], **others: Any) -> Token:
    """Make a token of markdown-it; its `nesting` is 1 for the begin of an element, -1 for the end, and 0 for a text."""
    from markdown_it.token import Token

    return Token(kind, tag, nesting, **others)


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
    _open, title, _close, *tokens = markdown.parse(text)  # the first heading, and what follows it
    headings = tuple(_add_anchors(tokens))
    for token in tokens:
        if token.type == "inline":
            token.children = [one for child in token.children or () for one in _adapt_to_pages(child)]
        elif token.type == "table_open":
            token.attrSet("tabindex", "0")  # on a narrow window a wide table is scrolled by keys too
    html = markdown.renderer.render(tokens, markdown.options, {})
    return Guide(title.content, headings, Markup(html))  # noqa: S704 - markdown-it has escaped it


def _add_anchors(tokens: Sequence[Token]) -> Iterator[Heading]:
    """Give each heading its anchor, and yield the headings."""
    for token, inner in itertools.pairwise(tokens):
        if token.type == "heading_open":
            heading = Heading(make_anchor(inner.content), inner.content)
            token.attrSet("id", heading.key)
            yield heading


def make_anchor(heading: str) -> str:
    """Return the anchor that code hosts give to a heading, so that links work here and there."""
    return re.sub(r"[^\w -]", "", heading.casefold()).replace(" ", "-")


def _adapt_to_pages(token: Token) -> tuple[Token, ...]:
    """Change what differs on a page of the service: where pictures are, and that addresses of pages are links."""
    if token.type == "image":
        token.attrSet("src", str(token.attrGet("src")).replace(STATIC, "/static/"))
    if token.type == "code_inline" and token.content.startswith("/"):
        return _make_link(token.content, token)
    return (token,)
