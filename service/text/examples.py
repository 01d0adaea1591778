"""Examples of a rule book: scenario files, drawn as boards and described in sentences like a real game."""

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
VIEW_BOX = re.compile(r'viewBox="([^"]+)"')


class ExampleStep(Struct, frozen=True):
    """A step of an example: a player's move and what follows from it, or why it is refused."""

    who: str
    move: str
    news: tuple[str, ...]
    refused: bool
    rule: str = ""


class ExamplePicture(Struct, frozen=True):
    """A picture of an example: its address, its size, and the position in words."""

    address: str
    width: float
    height: float
    alt: str


def get_folder(name: str, kind: str = "examples") -> Path:
    """Return the folder of a game's scenario files: its `examples` or its `lessons`."""
    return catalogue.get_folder(name) / "book" / kind


@functools.lru_cache(maxsize=64)
def list_scenarios(name: str, kind: str = "examples") -> frozenset[str]:
    """List the names of a game's scenario files."""
    return frozenset(path.stem for path in get_folder(name, kind).glob("*.toml"))


@functools.lru_cache(maxsize=256)
def load_scenario(name: str, example: str, kind: str = "examples") -> Scenario:
    """Load one scenario file of a game."""
    return scenario.load(get_folder(name, kind) / f"{example}.toml")


@functools.lru_cache(maxsize=256)
def play_scenario(name: str, example: str, kind: str = "examples") -> tuple[Stage, ...]:
    """Return the positions of an example: the first one, and one after each step."""
    return tuple(scenario.play_steps(load_scenario(name, example, kind)))


def render_example(name: str, example: str, language: str, caption: Markup) -> Markup:
    """Render an example for a book: the board before, the moves, and the board after them."""
    loaded, positions = load_scenario(name, example), play_scenario(name, example)
    has_moves = any(step.move for step in loaded.steps[loaded.picture.since :])
    whens = ("before", "after") if has_moves else ("before",)
    pictures = tuple(_describe_picture(name, example, language, when) for when in whens)
    steps = tuple(describe_steps(loaded, positions, language))
    template = templates.get_environment(language).get_template("pages/example.html")
    return Markup(template.render(pictures=pictures, steps=steps, caption=caption, rules=f"/rules/{name}"))  # noqa: S704


def _describe_picture(name: str, example: str, language: str, when: str) -> ExamplePicture:
    loaded, positions = load_scenario(name, example), play_scenario(name, example)
    stage = positions[loaded.picture.since] if when == "before" else positions[-1]
    box = loaded.picture.box or _get_view_box(draw_picture(name, example, language, when))
    narrator = Narrator(stage.game, NAMES[: stage.seats], language)
    address = f"/rules/{name}/{language}/{example}-{when}.svg"
    alt = narrator.describe_board(stage.game.view(stage.state, loaded.picture.seat))
    return ExamplePicture(address, box[2], box[3], alt)


def _get_view_box(svg: str) -> tuple[float, ...]:
    match = VIEW_BOX.search(svg)
    assert match
    return tuple(map(float, match[1].split()))


@functools.lru_cache(maxsize=64)
def draw_picture(name: str, example: str, language: str, when: str) -> str:
    """Draw the board `before` or `after` an example, cropped; the choices of the picture are lit before it."""
    loaded, positions = load_scenario(name, example), play_scenario(name, example)
    if when == "before":
        stage = positions[loaded.picture.since]
        return draw_position(stage, loaded.picture, language, select_choices(loaded, stage))
    return draw_position(positions[-1], loaded.picture, language, ())


def draw_position(stage: Stage, picture: Picture, language: str, menu: Menu) -> str:
    """Draw a position with the board of its game; the choices of the menu are lit."""
    players = drawing.list_players(NAMES[: stage.seats])
    view = stage.game.view(stage.state, picture.seat)
    scene = Scene(stage.game, view, players, picture.seat, menu, language)
    return drawing.draw_part(scene, picture.box, picture.whole)


def select_choices(loaded: Scenario, stage: Stage) -> Menu:
    """Select the part of the menu that continues the words of a scenario's picture (`choosing`)."""
    verb, *tokens = loaded.picture.choosing.split() or [""]
    seat = loaded.picture.seat if loaded.picture.seat is not None else next((step.seat for step in loaded.steps), 0)
    entries = (entry for entry in stage.game.menu(stage.state, seat) if entry.verb == verb)
    return tuple(_drop_tokens(entry, tuple(tokens)) if isinstance(entry, Choice) else entry for entry in entries)


def _drop_tokens(entry: Choice, tokens: tuple[str, ...]) -> Choice:
    """Keep the options that begin with these tokens, without the tokens."""
    rest = (args[len(tokens) :] for args in entry.options if args[: len(tokens)] == tokens)
    return replace(entry, options=tuple(rest))


def describe_steps(loaded: Scenario, positions: tuple[Stage, ...], language: str) -> Iterator[ExampleStep]:
    """Describe each step in the sentences of a letter; steps before the picture are left out."""
    steps = itertools.islice(zip(loaded.steps, positions[1:], strict=True), loaded.picture.since, None)
    for step, stage in steps:
        narrator = Narrator(stage.game, NAMES[: stage.seats], language, loaded.picture.seat)
        move = translate_move(stage, step.move or step.refused, language)
        if stage.refusal and step.refused:
            refusal = describe_refusal(stage, language)
            yield ExampleStep(NAMES[step.seat], move, (refusal,), True, stage.refusal.rule)
        else:
            yield ExampleStep(NAMES[step.seat], move, describe_news(stage, narrator, None), False)


def describe_news(stage: Stage, narrator: Narrator, seat: int | None) -> tuple[str, ...]:
    """Describe the events of the last step that this seat, or a spectator (None), may know."""
    events = (stage.game.hear(event, seat) for event in stage.latest)
    return tuple(filter(None, (narrator.describe(event) for event in events if event is not None)))


def describe_refusal(stage: Stage, language: str) -> str:
    """Return why the last step was refused; moves in the sentence are translated too."""
    assert stage.refusal
    moves = {key: translate_move(stage, str(word), language) for key, word in stage.refusal.words.items()}
    return sentences.translate(language, Refused(stage.refusal.sentence, rule="", **moves))


def translate_move(stage: Stage, move: str, language: str) -> str:
    """Write a move with the words of this language."""
    if language == languages.SOURCE:
        return move
    vocabulary = words.make_vocabulary(stage.game, NAMES[: stage.seats], language)
    return " ".join(next(iter(vocabulary(token)), token) for token in move.split())
