"""Prose for one reader: events, boards and moves in sentences, and the entries of a log described by them."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from engine import catalogue, log
from engine.game import Game
from engine.log import Entry
from engine.table_events import TABLE_EVENTS
from service.memory import LRU
from service.text import templates
from service.text.languages import COLONS, mark_place, name_place, remove_place_marks

SPACE = re.compile(r"[ \n]+")  # but not the no-break space, which French has before a colon
PLACE_FIELDS = ("cell", "start", "end", "inn")  # the fields of games' events that name a place of the board


class Narrator:
    """Turns events into sentences for one reader: the seat `me`, or a spectator (None).

    With `marked`, the places on the board are marked up for a page. With the reader's `view` of the board, places are
    described by their surroundings.
    """

    def __init__(
        self,
        game: Game,
        names: Sequence[str],
        language: str = "en",
        me: int | None = None,
        *,
        marked: bool = False,
        view: Any = None,
    ) -> None:
        self._unmark: Callable[[str], str] = remove_place_marks if marked else str  # no marks, nothing to remove
        self._context = {
            "name": names.__getitem__,
            "names": names,
            "me": me,
            "board": catalogue.find_board(game),
            "view": view,
            "spot": mark_place if marked else name_place,
        }
        self._language = language
        self._game_name = game.META.name
        self.colon = COLONS.get(language, ":")

    @functools.cached_property
    def _table_macros(self) -> Any:
        """The macros for events of every table."""
        return templates.get_environment(self._language).get_template("table/sentences.txt").make_module(self._context)

    @functools.cached_property
    def _game_macros(self) -> Any:
        """The macros for events of this game; an invitation needs none of them."""
        own = templates.get_environment(self._language, self._game_name)
        return own.get_template(f"games/{self._game_name}/sentences.txt").make_module(self._context)

    def describe(self, event: Any) -> str:
        """Describe an event in one sentence, by the macro of the same name; empty if there is nothing to say."""
        macros = self._table_macros if type(event) in TABLE_EVENTS else self._game_macros
        return join_lines(getattr(macros, type(event).__name__)(event))

    def describe_board(self, view: Any) -> str:
        """Describe the position in a few sentences, for readers who cannot see the picture."""
        return self._unmark(join_lines(self._game_macros.alt(view)))

    def label_verb(self, verb: str) -> str:
        """Return the label of the button for a verb."""
        command = getattr(self._table_macros, f"command_{verb}", None)
        return self._unmark(join_lines(command() if command else self._game_macros.verb_label(verb)))

    def label_token(self, verb: str, token: str) -> str:
        """Return the words for a token that follows this verb."""
        return self._unmark(join_lines(self._game_macros.token_label(verb, token)))

    def label_source(self, source: str) -> str:
        """Return a word or two for a source of points."""
        return self._unmark(join_lines(self._game_macros.source_word(source)))

    def label_score(self) -> str:
        """Return the sentence that says what the score counts; empty if the number alone says it."""
        return join_lines(self._game_macros.score_word()) if hasattr(self._game_macros, "score_word") else ""


def join_lines(text: str) -> str:
    """Join the lines of a rendered template to one line, with single spaces."""
    return SPACE.sub(" ", text).strip()


class Chapter(Struct, frozen=True):
    """One entry of the log in prose; `start` marks the entry that began the game."""

    seq: int
    at: int
    sentences: tuple[str, ...]
    start: bool = False
    places: tuple[str, ...] = ()
    is_own: bool = False  # whether the reader made it


def describe_entries(
    game: Game, entries: Iterable[Entry[Any]], narrator: Narrator, seat: int | None
) -> tuple[Chapter, ...]:
    """Describe each entry with what this seat, or a spectator (None), may know; skip entries without a sentence."""
    chapters = list[Chapter]()
    for entry in log.hear_entries(game, entries, seat):
        sentences = fold_repeats([sentence for event in entry.events if (sentence := narrator.describe(event))])
        if sentences:
            places = list_places(entry.events)
            is_own = seat is not None and entry.mover == seat
            chapters.append(Chapter(entry.seq, entry.at, sentences, entry.is_start, places, is_own))
    return tuple(chapters)


def fold_repeats(sentences: Sequence[str]) -> tuple[str, ...]:
    """Write a sentence that is said several times in a row once, with the number of times.

    Sentences that differ only in the marks of their places are the same.
    """
    if len(sentences) < 2:
        return tuple(sentences)
    runs = [list(run) for _, run in itertools.groupby(sentences, key=remove_place_marks)]
    return tuple(run[0] if len(run) == 1 else f"{run[0]} ×{len(run)}" for run in runs)


def describe_once(
    cache: LRU[tuple[Chapter, ...]],
    reader_key: Hashable,
    game: Game,
    entries: Iterable[Entry[Any]],
    narrator: Narrator,
    seat: int | None,
) -> Iterator[Chapter]:
    """Describe each entry, or take its chapter from the cache; the key identifies table, seat, language and names."""
    for entry in entries:
        chapters = cache.get((reader_key, entry.seq))
        if chapters is None:
            chapters = describe_entries(game, [entry], narrator, seat)  # one, or none if it has no sentence
            cache.put((reader_key, entry.seq), chapters)
        yield from chapters


def list_places(events: Iterable[Any]) -> tuple[str, ...]:
    """List the places of the board that these events name, so that a page can show where they happened."""
    return tuple(dict.fromkeys(place for event in events for place in _iter_places(event)))


def _iter_places(event: Any) -> Iterator[str]:
    """Yield the places that an event names, and those of the figures in it; a segment `2,1/0` is at `2,1`."""
    for name in PLACE_FIELDS:
        place = getattr(event, name, None)
        if isinstance(place, str) and place:
            yield place.partition("/")[0]
    if hasattr(event, "figure"):
        yield from _iter_places(event.figure)
    for figure in getattr(event, "figures", ()):
        yield from _iter_places(figure)
