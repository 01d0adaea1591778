"""Moves and commands as a letter suggests them, in the words of its reader; an answer in these words is understood."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from engine import menu as menus
from engine import table as tables
from engine.game import Game
from engine.menu import Choice, Menu, MenuEntry, Move, Number, Subset
from engine.record import Table
from service.numbers import parse_int
from service.text import move_words
from service.text.languages import SOURCE, Sentence, Translator
from service.text.move_words import Vocabulary
from service.text.narration import Narrator

MAX_LINES = 10  # of one verb; the page has them all
MAX_NAME_WORDS = 3  # of a player, in place of the token of a seat
MAX_ENDS = 14  # in one line
MAX_MAILED_ENDS = 8  # in one line; each link to a mail is long, and Gmail cuts off letters of more than 100 kB
SERVER_COMMANDS = ("status", "help")
SEPARATOR = " · "
MENU_QUOTES = frozenset(("following", "bit", "verb", "given"))  # a refusal with one of these words quotes a menu
TOKEN_WORDS = ("said", "following", "verb", "given", "move")  # in this refusal, the words that are verbs and tokens
SEAT_TOKEN = re.compile(r"([A-Za-z]+)([^A-Za-z]*)")  # a word and the number of a player, such as `purse2`


class MoveLink(Struct, frozen=True):
    """A part of a line that becomes a link in HTML: its move, and the words of a mail with it, empty for no mail."""

    text: str
    move: str
    mail: str


class MoveLine(Struct, frozen=True):
    """Moves that differ only in their last word: the whole line, the words before the links, and the links.

    `more` is whether the page has more last words. If there is one move, or its reader has to finish it, the whole line
    is one link.
    """

    text: str
    front: str
    links: tuple[MoveLink, ...]
    more: bool = False


class SuggestedVerb(Struct, frozen=True):
    """One verb of the menu: its label, the lines that can be written, and whether the page has more of them.

    `amount` says how many of the words in the line have to be chosen; it is empty if the line is a move. `only_move`
    are the words of the only move with this verb, empty if there are several.
    """

    label: str
    lines: tuple[MoveLine, ...]
    more: bool = False
    amount: str = ""
    only_move: str = ""


class Example(Struct, frozen=True):
    """An example of a move."""

    text: str
    move: str


class Answers(Struct, frozen=True):
    """The moves that the reader can answer with."""

    instruction: str
    example: Example | None
    verbs: tuple[SuggestedVerb, ...]


def build_answers(menu: Menu, writer: MoveWriter, narrator: Narrator, instruction: str = "") -> Answers | None:
    """Return the moves of a menu that the reader can answer with; `instruction` says how, if not as usual."""
    if not menu:
        return None
    verbs = list_verbs(menu, writer, narrator)
    _ = writer.translator.gettext
    instruction = instruction or _(
        "Answer this letter with your move as its first line, or choose on the page. Put each move on its own line."
    )
    if any(len(line.links) > 1 for verb in verbs for line in verb.lines):
        instruction += " " + _("Where endings are separated by ·, choose one.")
    return Answers(instruction, find_example(menu, writer), verbs)


def list_verbs(menu: Menu, writer: MoveWriter, narrator: Narrator) -> tuple[SuggestedVerb, ...]:
    """Return each verb of a menu with its moves."""
    return tuple(_make_verb(entry, writer, narrator) for entry in menu)


def find_example(menu: Menu, writer: MoveWriter) -> Example | None:
    """Return the first move of the first verb that has more than one move; None if there is none."""
    sample = menus.find_sample(menu)
    if sample is None:
        return None
    entry, move = sample
    return Example(writer.write(move, entry), _join(entry, move.args))


def list_commands(
    table: Table, seat: int, writer: MoveWriter, server_commands: Sequence[str] = SERVER_COMMANDS
) -> tuple[str, ...]:
    """Return the commands to the table and to the server; nothing if the table takes no commands of this seat."""
    table_commands = [entry.verb for entry in tables.list_commands(table, seat)]
    if not table_commands:
        return ()
    verbs = map(writer.write_verb, (*table_commands, *server_commands))
    return (*verbs, f"{writer.say} …")


def translate_refusal(why: Sentence, writer: MoveWriter) -> Sentence:
    """Return a refusal with the tokens that it quotes written in the reader's words."""
    if MENU_QUOTES.isdisjoint(why.words):
        return why
    written = {name: writer.write_phrase(str(word)) for name, word in why.words.items() if name in TOKEN_WORDS}
    return Sentence(why.sentence, {**why.words, **written})


class MoveWriter:
    """Writes moves of one table in one language."""

    def __init__(self, game: Game, names: Sequence[str], language: str) -> None:
        self.translator = Translator(language)
        self._game, self._names = game, names
        self._own = move_words.make_vocabulary(game, names, language)
        self._is_english = language == SOURCE
        self.say = min(self._own.table.say, key=len)  # the word that begins a remark to the table

    @functools.cached_property
    def _all(self) -> Vocabulary:
        """The words of all languages, which a player's name must not be taken for."""
        return move_words.make_vocabulary(self._game, self._names)

    def write(self, move: Move, entry: MenuEntry) -> str:
        """Return a whole move of a menu's entry."""
        return self._write_line(entry, move.args)

    def write_verb(self, verb: str) -> str:
        """Return a verb in the form that letters use."""
        if self._is_english:
            return verb
        forms = self._own.game.verbs.get(verb) or self._own.table.verbs.get(verb) or (verb,)
        return forms[0]

    def write_phrase(self, text: str) -> str:
        """Return verbs and tokens in the reader's words; they are separated by blanks and commas."""
        return ", ".join(" ".join(map(self._write_word, part.split())) for part in text.split(", "))

    def _write_word(self, word: str) -> str:
        is_verb = word in self._own.game.verbs or word in self._own.table.verbs
        return self.write_verb(word) if is_verb else self.write_token(word, choices=())

    def write_token(self, token: str, choices: Sequence[str]) -> str:
        """Return a token in the reader's words; `choices` are all tokens that the menu has in its place.

        The token of a seat is written as its player's name if that name means no other choice; without choices, never.
        """
        name = self._find_name(token)
        if name and self._is_clear(name, choices):
            return name
        if self._is_english:  # tokens are English words, but for bare signs
            forms = self._own.game.tokens.get(token, ()) if _is_bare(token) else ()
        else:
            forms = self._own(token)
        return forms[0] if forms else token

    def _find_name(self, token: str) -> str | None:
        """Return the name of the player whose number is in this token, as 2 in `purse2`."""
        parts = SEAT_TOKEN.search(token)
        if parts is None or parts[1] not in self._own.game.seats:
            return None
        number = parse_int(parts[2], len(self._own.names))
        return self._own.names[number - 1] if number else None  # tokens number players from 1

    def _is_clear(self, name: str, choices: Sequence[str]) -> bool:
        """Return whether a name means just one of these tokens; a long name or a small word such as “the” does not."""
        plain = menus.normalize_name(name)
        if plain is None or len(name.split()) > MAX_NAME_WORDS or name.casefold() in self._all.small:
            return False
        matches = [token for token in choices if plain in map(menus.normalize_name, (token, *self._all(token)))]
        return len(matches) == 1

    def iter_lines(self, entry: Choice) -> Iterator[MoveLine]:
        """Yield a line for all options that differ only in their last word: `move A15 A9 · A12`.

        An option without words, the verb alone, is left out if there are others with one word.
        """
        for stem, group in itertools.groupby(entry.options, key=lambda args: args[:-1]):
            rows = list(group)
            with_words = [args for args in rows[:MAX_ENDS] if args]
            shown = with_words or [stem]  # the verb alone
            has_more = len(rows) > MAX_ENDS
            if len(shown) == 1 and not has_more:
                yield _make_one_move_line(self._write_line(entry, shown[0]), _join(entry, shown[0]))
            else:
                yield self._make_line(entry, stem, shown, has_more)

    def _make_line(
        self, entry: Choice, stem: Sequence[str], options: Sequence[Sequence[str]], has_more: bool
    ) -> MoveLine:
        """Make a line of moves that differ in their last word; the first ones get a link to a mail."""
        front = self._write_line(entry, stem)
        last_tokens = _list_tokens(entry, len(stem))
        ends = [self.write_token(args[-1], last_tokens) for args in options]
        links: list[MoveLink] = []
        for end, args in zip(ends, options, strict=True):
            has_mail = len(links) < MAX_MAILED_ENDS
            links.append(MoveLink(end, _join(entry, args), mail=f"{front} {end}" if has_mail else ""))
        # There is no comma between moves, because names of places have commas.
        shown_ends = [*ends, "…"] if has_more else ends
        text = f"{front} {SEPARATOR.join(shown_ends)}"
        return MoveLine(text, front, tuple(links), has_more)

    def _write_line(self, entry: MenuEntry, args: Sequence[str]) -> str:
        """Return the verb of an entry and these tokens behind it, which may only begin a move."""
        tokens = (self.write_token(token, _list_tokens(entry, place)) for place, token in enumerate(args))
        return " ".join((self.write_verb(entry.verb), *tokens))


def _list_tokens(entry: MenuEntry, place: int) -> Sequence[str]:
    """Return all tokens that an entry of a menu allows in one place."""
    match entry:
        case Choice():
            return tuple(dict.fromkeys(args[place] for args in entry.options if len(args) > place))
        case Subset():
            return tuple(dict.fromkeys(entry.items))
        case Number():
            return ()


def _make_verb(entry: MenuEntry, writer: MoveWriter, narrator: Narrator) -> SuggestedVerb:
    """Return a verb of a menu with the lines that a letter shows of its moves."""
    label, verb = narrator.label_verb(entry.verb), writer.write_verb(entry.verb)
    match entry:
        case Choice():
            lines = tuple(itertools.islice(writer.iter_lines(entry), MAX_LINES + 1))  # the last one only tells of more
            only_move = lines[0].text if len(entry.options) == 1 else ""
            return SuggestedVerb(label, lines[:MAX_LINES], more=len(lines) > MAX_LINES, only_move=only_move)
        case Subset():
            items = ", ".join([writer.write_token(item, entry.items) for item in entry.items])
            return SuggestedVerb(label, (_make_open_line(verb, items, entry),), amount=_write_amount(entry, writer))
        case Number():
            return SuggestedVerb(label, (_make_open_line(verb, f"{entry.least}–{entry.most}", entry),))


def _make_one_move_line(text: str, move: str) -> MoveLine:
    return MoveLine(text, front="", links=(MoveLink(text, move, mail=text),))


def _make_open_line(verb: str, rest: str, entry: MenuEntry) -> MoveLine:
    """Make a line whose reader has to choose or fill in the rest; `verb` is that of the entry in the reader's words."""
    text = f"{verb} {rest}"
    link = MoveLink(text, move=entry.verb, mail=f"{verb} ")  # the reader goes on behind the blank
    return MoveLine(text, front="", links=(link,))


def _write_amount(entry: Subset, writer: MoveWriter) -> str:
    """Return how many items of an entry have to be chosen; empty if it is none."""
    if not entry.most:
        return ""
    if entry.least == entry.most:
        return writer.translator.gettext("%(count)s of these", count=entry.least)
    return writer.translator.gettext("%(least)s to %(most)s of these", least=entry.least, most=entry.most)


def _join(entry: MenuEntry, args: Sequence[str]) -> str:
    """Return a move as it is sent."""
    return " ".join((entry.verb, *args))


def _is_bare(token: str) -> bool:
    """Return whether a token is a sign that says little by itself."""
    return token.isupper() or token.isdecimal()
