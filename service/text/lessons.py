"""Lessons: small positions of a game, each with one sentence and a move to find."""

from __future__ import annotations

import functools

from msgspec import Struct
from msgspec.structs import replace

from engine import scenario
from engine.menu import Menu
from engine.refusal import Refused
from engine.scenario import Scenario, Stage, Trial
from service.text import examples, words
from service.text.narration import Narrator


class Lesson(Struct, frozen=True):
    """A position of a scenario file, and the seat that has to find the move."""

    scenario: Scenario
    stage: Stage
    seat: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the players, which are the same as in the examples of the book."""
        return examples.NAMES[: self.stage.seats]

    @property
    def menu(self) -> Menu:
        """All moves that are legal in the position."""
        return self.stage.game.menu(self.stage.state, self.seat)


class Attempt(Struct, frozen=True):
    """The answer to a move: `solved`, `other` (legal, but not the one asked for), or `refused` with its paragraph."""

    verdict: str
    news: tuple[str, ...]
    rule: str = ""
    picture: str = ""


@functools.cache
def load_lessons(name: str) -> tuple[Lesson, ...]:
    """Load the lessons of a game in their order; an empty tuple if it has none."""
    files = sorted(examples.get_folder(name, "lessons").glob("*.toml"))
    return tuple(_make_lesson(examples.load_scenario(name, file.stem, "lessons")) for file in files)


def has_lessons(name: str) -> bool:
    """Return whether a game has lessons, without loading them."""
    return next(examples.get_folder(name, "lessons").glob("*.toml"), None) is not None


def _make_lesson(loaded: Scenario) -> Lesson:
    return Lesson(loaded, scenario.play_to_last(loaded), loaded.steps[-1].seat)


def get_sentence(lesson: Lesson, language: str) -> str:
    """Return the task of a lesson in this language, or in English."""
    return lesson.scenario.sentences.get(language) or lesson.scenario.sentences["en"]


def draw_lesson(lesson: Lesson, language: str) -> str:
    """Draw the position; everything that can be touched is lit."""
    return examples.draw_position(lesson.stage, lesson.scenario.picture, language, lesson.menu)


def try_move(lesson: Lesson, text: str, language: str) -> Attempt:
    """Play a move that was written in any language, and answer in this one."""
    vocabulary = words.make_vocabulary(lesson.stage.game, lesson.names)
    try:
        trial = scenario.try_instead(lesson.scenario, text, vocabulary)
    except Refused as refused:
        stage = replace(lesson.stage, refusal=refused)
        return Attempt("refused", (examples.describe_refusal(stage, language),), refused.rule)
    return _describe_trial(lesson, trial, language)


def _describe_trial(lesson: Lesson, trial: Trial, language: str) -> Attempt:
    narrator = Narrator(lesson.stage.game, lesson.names, language, lesson.seat)
    news = examples.describe_news(trial.stage, narrator, lesson.seat)
    picture = examples.draw_position(trial.stage, lesson.scenario.picture, language, ())
    return Attempt("solved" if trial.fits else "other", news, picture=picture)
