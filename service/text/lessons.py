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
    """A position, what is asked, and who is asked."""

    scenario: Scenario
    stage: Stage
    seat: int

    @property
    def names(self) -> tuple[str, ...]:
        """The players of a lesson, who are those of the book."""
        return examples.NAMES[: self.stage.seats]

    @property
    def menu(self) -> Menu:
        """What may be played."""
        return self.stage.game.menu(self.stage.state, self.seat)


class Attempt(Struct, frozen=True):
    """What a try came to: solved, allowed but not what was asked, or refused with a sentence and its paragraph."""

    verdict: str
    news: tuple[str, ...]
    rule: str = ""
    picture: str = ""


@functools.cache
def load_lessons(name: str) -> tuple[Lesson, ...]:
    """The lessons of a game in their order; none where its book has none."""
    files = sorted(examples.get_folder(name, "lessons").glob("*.toml"))
    return tuple(_lesson(examples.load_scenario(name, file.stem, "lessons")) for file in files)


def has_lessons(name: str) -> bool:
    """Whether a game has lessons; the first one is not played for this."""
    return next(examples.get_folder(name, "lessons").glob("*.toml"), None) is not None


def _lesson(found: Scenario) -> Lesson:
    return Lesson(found, scenario.play_to_last(found), found.steps[-1].seat)


def get_sentence(lesson: Lesson, language: str) -> str:
    """The sentence of a lesson."""
    return lesson.scenario.sentences.get(language) or lesson.scenario.sentences["en"]


def draw_lesson(lesson: Lesson, language: str) -> str:
    """The position; what can be touched is lit."""
    return examples.draw_position(lesson.stage, lesson.scenario.picture, language, lesson.menu)


def try_move(lesson: Lesson, text: str, language: str) -> Attempt:
    """What becomes of these words, which may be in any language."""
    vocabulary = words.make_vocabulary(lesson.stage.game, lesson.names)
    try:
        tried = scenario.try_instead(lesson.scenario, text, vocabulary)
    except Refused as refused:
        refusal = replace(lesson.stage, refusal=refused)
        return Attempt("refused", (examples.describe_refusal(refusal, language),), refused.rule)
    return _played(lesson, tried, language)


def _played(lesson: Lesson, tried: Trial, language: str) -> Attempt:
    narrator = Narrator(lesson.stage.game, lesson.names, language, lesson.seat)
    news = (narrator.describe(event) for event in _heard(lesson, tried.stage))
    picture = examples.draw_position(tried.stage, lesson.scenario.picture, language, ())
    return Attempt("solved" if tried.fits else "other", tuple(filter(None, news)), picture=picture)


def _heard(lesson: Lesson, stage: Stage) -> list[object]:
    heard = (stage.game.hear(event, lesson.seat) for event in stage.latest)
    return [event for event in heard if event is not None]
