"""The book of a game: rules told for players, where every numbered paragraph has an address of its own.

A book is `book/<language>.md` in the folder of its game; `engine/PACKAGE.md` says how one is written. A game without a
book shows its README.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape
from msgspec import Struct

from engine import catalogue
from service.text import examples
from service.text.languages import SOURCE

HEADING = re.compile(r"(##|###) (?:(\d+(?:\.\d+)?)\s+)?(.+?)(?: \{#([a-z]+)\})?")
SIGN = re.compile(r"§\s?(\d+(?:\.\d+)?)")
CITED = re.compile(r"(?:§\s?|\b(?:in|and|of|see) (?=\d+\.\d))(?P<number>\d+(?:\.\d+)?)\b|\[\^(?P<ruling>\w+)\]")
RULING = re.compile(r"^\[\^(\w+)\]: (.+?)(?=\n\n|\n\[\^|\Z)", re.DOTALL | re.MULTILINE)
MARK = re.compile(r"\[\^(\w+)\](?!:)")
EXAMPLE = re.compile(r"^!\[([^]]+)\]\(([a-z0-9_]+)\)$", re.MULTILINE)


class Section(Struct, frozen=True):
    """A heading and the text below it, as written; `key` is its number, or a word before the numbers begin."""

    level: int
    key: str
    title: str
    text: str

    @property
    def is_numbered(self) -> bool:
        return self.key[:1].isdigit()

    @property
    def examples(self) -> tuple[str, ...]:
        """The scenario files that are shown here."""
        return tuple(name for _, name in EXAMPLE.findall(self.text))

    @property
    def marks(self) -> tuple[str, ...]:
        """The rulings that this section points at."""
        return tuple(dict.fromkeys(MARK.findall(self.text)))

    @property
    def cites(self) -> tuple[str, ...]:
        """The paragraphs that this section points at."""
        return tuple(sorted({match["number"] for match in CITED.finditer(self.text) if match["number"]}))


class Manuscript(Struct, frozen=True):
    """A book as written: the text before the first heading, the sections in their order, and the rulings."""

    preface: str
    sections: tuple[Section, ...]
    rulings: dict[str, str]


class RulesChapter(Struct, frozen=True):
    """A section of the table of contents, and what is told in it."""

    key: str
    title: Markup
    html: Markup
    paragraphs: tuple[RulesChapter, ...] = ()

    @property
    def number(self) -> str:
        return self.key if self.key[:1].isdigit() else ""


class Rulebook(Struct, frozen=True):
    """The rules of one game in one language, as HTML."""

    language: str
    preface: Markup
    chapters: tuple[RulesChapter, ...]

    @property
    def places(self) -> dict[str, RulesChapter]:
        """Everything that has an address."""
        return {one.key: one for chapter in self.chapters for one in (chapter, *chapter.paragraphs)}

    @property
    def numbers(self) -> frozenset[str]:
        """Every number that can be pointed at."""
        return frozenset(key for key in self.places if key[:1].isdigit())

    @property
    def html(self) -> Markup:
        """All of it, from the first page to the last."""
        return self.preface + Markup("\n").join(chapter.html for chapter in self.chapters)


def get_path(name: str, language: str) -> Path:
    """Where the book of a game is written in that language."""
    return catalogue.get_folder(name) / "book" / f"{language}.md"


@functools.cache
def load_rulebook(name: str, language: str = SOURCE) -> Rulebook:
    """The book of a game; English where there is none in that language, and the README where there is none at all."""
    for spoken in (language, SOURCE):
        if get_path(name, spoken).exists():
            return parse_rulebook(get_path(name, spoken).read_text("utf-8"), spoken, name)
    return parse_rulebook((catalogue.get_folder(name) / "README.md").read_text("utf-8"))


def load_things(name: str) -> list[dict[str, str]]:
    """What is told of a thing that is touched on the board: patterns of names, and the paragraph for each."""
    path = catalogue.get_folder(name) / "book" / "things.toml"
    found: list[dict[str, str]] = tomllib.loads(path.read_text("utf-8"))["things"] if path.exists() else []
    return found


def parse_manuscript(text: str) -> Manuscript:
    """A book taken apart; what looks like a heading inside a block of code is none."""
    rulings = {code: " ".join(said.split()) for code, said in RULING.findall(text)}
    preface, sections, fenced = list[str](), list[tuple[re.Match[str], list[str]]](), False
    for line in RULING.sub("", text).splitlines():
        fenced ^= line.startswith("```")
        heading = None if fenced else HEADING.fullmatch(line)
        if heading:
            sections.append((heading, []))
        elif sections:
            sections[-1][1].append(line)
        elif not line.startswith("# "):
            preface.append(line)
    return Manuscript("\n".join(preface), tuple(_section(*found) for found in sections), rulings)


def _section(heading: re.Match[str], lines: Sequence[str]) -> Section:
    sign, number, title, word = heading.groups()
    return Section(len(sign), number or word or "", title, "\n".join(lines).strip())


def parse_rulebook(text: str, language: str = SOURCE, game: str = "") -> Rulebook:
    """A book from its Markdown; what looks like HTML stays text, and links lead to https or to paragraphs only."""
    return _Press(parse_manuscript(text), language, game).book()


def link_citations(text: str, rules: str) -> Markup:
    """A sentence whose `§` lead to their paragraphs on the page of the rules."""
    linked = SIGN.sub(rf'<a class="rule" href="{escape(rules)}#\1">\g<0></a>', str(escape(text)))
    return Markup(linked)  # noqa: S704 - escaped just before


class _Press:
    """Prints one book."""

    def __init__(self, written: Manuscript, language: str, game: str) -> None:
        self._written, self._language, self._game = written, language, game
        self._keys = frozenset(section.key for section in written.sections)
        self._reader = MarkdownIt("commonmark", {"html": False, "typographer": True}).enable(["table"])
        self._reader.validateLink = _is_safe  # type: ignore[method-assign]  # this is how markdown-it lets itself be told
        if language == SOURCE:
            self._reader.enable(["smartquotes"])

    def book(self) -> Rulebook:
        chapters = list[list[Section]]()
        for section in self._written.sections:
            if section.level == 2:
                chapters.append([])
            if chapters:
                chapters[-1].append(section)
        preface = self._prose(self._written.preface)
        return Rulebook(self._language, preface, tuple(self._chapter(chapter[0], chapter[1:]) for chapter in chapters))

    def _chapter(self, head: Section, paragraphs: Sequence[Section]) -> RulesChapter:
        inner = tuple(self._paragraph(one, self._rulings(one.marks)) for one in paragraphs)
        alone = self._paragraph(head, self._rulings(head.marks))
        html = alone.html + Markup("\n").join(one.html for one in inner)
        return RulesChapter(head.key, alone.title, Markup("<section>{}</section>").format(html), inner)

    def _paragraph(self, section: Section, rulings: Markup) -> RulesChapter:
        title = Markup(self._inline(section.title))  # noqa: S704 - markdown-it has escaped it
        html = self._heading(section, title) + self._body(section.text) + rulings
        return RulesChapter(section.key, title, html)

    def _heading(self, section: Section, title: Markup) -> Markup:
        tag = f"h{section.level}"
        number = Markup('<a href="#{0}" class="number">{0}</a> ').format(section.key) if section.is_numbered else ""
        name = Markup(' id="{}"').format(section.key) if section.key else ""
        return Markup("<{0}{1}>{2}{3}</{0}>\n").format(Markup(tag), name, number, title)  # noqa: S704 - h2 or h3

    def _body(self, text: str) -> Markup:
        """Prose and, between it, the examples."""
        found, end = Markup(), 0
        for match in EXAMPLE.finditer(text) if self._game else ():
            caption = Markup(self._inline(match[1]))  # noqa: S704 - markdown-it has escaped it
            found += self._prose(text[end : match.start()])
            found += examples.render_example(self._game, match[2], self._language, caption)
            end = match.end()
        return found + self._prose(text[end:])

    def _prose(self, text: str) -> Markup:
        tokens = self._reader.parse(text)
        self._dress(tokens)
        return Markup(self._reader.renderer.render(tokens, self._reader.options, {}))  # noqa: S704 - escaped there

    def _inline(self, text: str) -> str:
        tokens = self._reader.parseInline(text)
        self._dress(tokens)
        return str(self._reader.renderer.render(tokens, self._reader.options, {}))

    def _rulings(self, marks: Sequence[str]) -> Markup:
        """What was settled by us, below the paragraph that says so."""
        told = [(code, self._written.rulings[code]) for code in marks if code in self._written.rulings]
        return Markup("").join(
            Markup('<p class="ruling"><b>{}</b> {}</p>\n').format(code, Markup(self._inline(said)))  # noqa: S704
            for code, said in told
        )

    def _dress(self, tokens: Sequence[Token]) -> None:
        """What cites a paragraph leads there, and what points at a ruling is a small sign."""
        for token in tokens:
            if token.type == "inline":
                token.children = [one for child in token.children or [] for one in self._cited(child)]

    def _cited(self, token: Token) -> Iterator[Token]:
        if token.type != "text":
            yield token
            return
        end = 0
        for match in CITED.finditer(token.content):
            if match["ruling"] in self._written.rulings:
                yield _text(token.content[end : match.start()].rstrip(" "))
                yield from _sign(match["ruling"])
                end = match.end()
            elif match["number"] in self._keys:
                begin = match.start() if match[0].startswith("§") else match.start("number")
                yield _text(token.content[end:begin])
                yield from _link(match["number"], token.content[begin : match.end()])
                end = match.end()
        yield _text(token.content[end:])


def _is_safe(url: str) -> bool:
    return url.startswith(("https://", "#"))


def _link(number: str, text: str) -> tuple[Token, Token, Token]:
    return Token("link_open", "a", 1, attrs={"href": f"#{number}"}), _text(text), Token("link_close", "a", -1)


def _sign(code: str) -> tuple[Token, Token, Token]:
    return Token("sup_open", "sup", 1), _text(code), Token("sup_close", "sup", -1)


def _text(text: str) -> Token:
    return Token("text", "", 0, content=text)
