"""Examples and lessons of a book: scenario files, drawn by the game's own board and told by its own voice."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from engine import catalogue, scenario
from engine.menu import Choice, Menu
from engine.refusal import Refused
from engine.scenario import Picture, Scenario, Stage
from service.text import drawing, languages, sentences, templates, words
from service.text.drawing import Scene
from service.text.narration import Narrator

NAMES = ("Anna", "Bruno", "Clara", "David", "Emma", "Felix", "Greta", "Hugo")
BOX = re.compile(r'viewBox="([^"]+)"')


class ExampleStep(Struct, frozen=True):
    """A step of an example: who writes what, and what comes of it."""

    who: str
    move: str
    news: tuple[str, ...]
    refused: bool
    rule: str = ""


def get_folder(name: str, kind: str = "examples") -> Path:
    """Where the scenario files of a book are."""
    return catalogue.get_folder(name) / "book" / kind


@functools.lru_cache(maxsize=64)
def list_scenarios(name: str, kind: str = "examples") -> frozenset[str]:
    """Which scenario files a book has."""
    return frozenset(path.stem for path in get_folder(name, kind).glob("*.toml"))


@functools.lru_cache(maxsize=256)
def load_scenario(name: str, example: str, kind: str = "examples") -> Scenario:
    """One scenario file of a book."""
    return scenario.load(get_folder(name, kind) / f"{example}.toml")


@functools.lru_cache(maxsize=256)
def play_scenario(name: str, example: str, kind: str = "examples") -> tuple[Stage, ...]:
    """The positions of an example: the opening, and after each step."""
    return tuple(scenario.play_steps(load_scenario(name, example, kind)))


def render_example(name: str, example: str, language: str, caption: Markup) -> Markup:
    """An example as it stands in a book: before, the moves, after."""
    found, positions = load_scenario(name, example), play_scenario(name, example)
    played = any(step.move for step in found.steps[found.picture.since :])
    shown = tuple(_shown(name, example, language, when) for when in ("before", "after") if played or when == "before")
    template = templates.get_environment(language).get_template("pages/example.html")
    told = tuple(describe_steps(found, positions, language))
    return Markup(template.render(shown=shown, told=told, caption=caption, rules=f"/rules/{name}"))  # noqa: S704


class ExamplePicture(Struct, frozen=True):
    """A picture of a page: its address, its size, and the position in words."""

    address: str
    width: float
    height: float
    alt: str


def _shown(name: str, example: str, language: str, when: str) -> ExamplePicture:
    found, positions = load_scenario(name, example), play_scenario(name, example)
    stage = positions[found.picture.since] if when == "before" else positions[-1]
    box = found.picture.box or _box(draw_picture(name, example, language, when))
    narrator = Narrator(stage.game, NAMES[: stage.seats], language)
    address = f"/rules/{name}/{language}/{example}-{when}.svg"
    return ExamplePicture(
        address, box[2], box[3], narrator.describe_board(stage.game.view(stage.state, found.picture.seat))
    )


def _box(svg: str) -> tuple[float, ...]:
    found = BOX.search(svg)
    assert found
    return tuple(map(float, found[1].split()))


@functools.lru_cache(maxsize=64)
def draw_picture(name: str, example: str, language: str, when: str) -> str:
    """The board before or after an example, cropped; before it, what can follow the words of the picture is lit."""
    found, positions = load_scenario(name, example), play_scenario(name, example)
    if when == "before":
        stage = positions[found.picture.since]
        return draw_position(stage, found.picture, language, select_choices(found, stage))
    return draw_position(positions[-1], found.picture, language, ())


def draw_position(stage: Stage, asked: Picture, language: str, menu: Menu) -> str:
    """A position as the game's own board draws it."""
    players = drawing.list_players(NAMES[: stage.seats])
    view = stage.game.view(stage.state, asked.seat)
    return drawing.draw_part(Scene(stage.game, view, players, asked.seat, menu, language), asked.box, asked.whole)


def select_choices(found: Scenario, stage: Stage) -> Menu:
    """The part of a menu that goes on with the words of a picture."""
    verb, *said = found.picture.choosing.split() or [""]
    seat = found.picture.seat if found.picture.seat is not None else next((step.seat for step in found.steps), 0)
    entries = (entry for entry in stage.game.menu(stage.state, seat) if entry.verb == verb)
    return tuple(_tail(entry, tuple(said)) if isinstance(entry, Choice) else entry for entry in entries)


def _tail(entry: Choice, said: tuple[str, ...]) -> Choice:
    left = (args[len(said) :] for args in entry.options if args[: len(said)] == said)
    return replace(entry, options=tuple(left))


def describe_steps(found: Scenario, positions: tuple[Stage, ...], language: str) -> Iterator[ExampleStep]:
    """Each step as a letter would tell it."""
    shown = itertools.islice(zip(found.steps, positions[1:], strict=True), found.picture.since, None)
    for step, stage in shown:
        narrator = Narrator(stage.game, NAMES[: stage.seats], language, found.picture.seat)
        move = translate_move(stage, step.move or step.refused, language)
        if stage.refusal and step.refused:
            yield ExampleStep(NAMES[step.seat], move, (describe_refusal(stage, language),), True, stage.refusal.rule)
        else:
            yield ExampleStep(NAMES[step.seat], move, tuple(filter(None, _news(stage, narrator))), False)


def _news(stage: Stage, narrator: Narrator) -> tuple[str, ...]:
    heard = (stage.game.hear(event, None) for event in stage.latest)
    return tuple(narrator.describe(event) for event in heard if event is not None)


def describe_refusal(stage: Stage, language: str) -> str:
    """Why the last step was refused, with the words of moves as that language has them."""
    assert stage.refusal
    said = {key: translate_move(stage, str(word), language) for key, word in stage.refusal.words.items()}
    return sentences.translate(language, Refused(stage.refusal.sentence, rule="", **said))


def translate_move(stage: Stage, move: str, language: str) -> str:
    """A move as a player of that language would write it."""
    if language == languages.SOURCE:
        return move
    spoken = words.make_vocabulary(stage.game, NAMES[: stage.seats], language)
    return " ".join(next(iter(spoken(token)), token) for token in move.split())
