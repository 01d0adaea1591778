"""Scenario files: worked examples of the rules as data, checked without any service.

The format is described in `engine/README.md`.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict, replace

from engine import catalogue
from engine import chance as chances
from engine import game as games
from engine import menu as menus
from engine.canonical_json import convert
from engine.chance import Chance, Rig
from engine.game import Game
from engine.options import parse as parse_options
from engine.refusal import Refused


class Claim(Struct, frozen=True, forbid_unknown_fields=True):
    """An expectation: a value in the view of a seat or a spectator, or an event of the last step, by some fields."""

    path: str = ""
    seat: int | None = None
    value: Any = None
    event: dict[str, Any] | None = None


Expectation = str | Claim


class ScenarioStep(Struct, frozen=True, forbid_unknown_fields=True):
    """A step: a move that is made, or a move that is refused for a reason, and what is expected after it."""

    seat: int
    move: str = ""
    refused: str = ""
    because: str = ""
    rig: dict[str, list[Any]] = {}
    expect: tuple[Expectation, ...] = ()


class ScenarioPicture(Struct, frozen=True, forbid_unknown_fields=True):
    """How a book shows an example: a part of the board, the seat that sees it, and words of a move to highlight.

    `whole` also shows the things beside the board, as in a letter; `since` is the number of steps before the picture.
    """

    box: tuple[float, float, float, float] | None = None
    whole: bool = False
    since: int = 0
    seat: int | None = None
    choosing: str = ""


class Scenario(Struct, frozen=True, forbid_unknown_fields=True):
    """A worked example; `sentences` are the texts of a lesson about it and `goals` how its game is won, by language."""

    game: str
    seats: int
    title: str = ""
    source: str = ""
    options: dict[str, Any] = {}
    given: dict[str, Any] = {}
    rig: dict[str, list[Any]] = {}
    steps: tuple[ScenarioStep, ...] = ()
    expect: tuple[Expectation, ...] = ()
    picture: ScenarioPicture = ScenarioPicture()
    sentences: dict[str, str] = field(name="told", default_factory=dict)
    goals: dict[str, str] = field(name="goal", default_factory=dict)


class Failed(Exception):
    """A scenario does not hold; the text says at which step."""


class Invalid(Failed):
    """A file is not a scenario of an installed game: nothing about the rules was checked."""


class ScenarioMoment(Struct, frozen=True):
    """A moment of a scenario: the state, the events of the last step (`latest`) and of all steps so far.

    `refusal` is the reason if the last step was refused.
    """

    game: Game
    seats: int
    state: Any
    latest: tuple[Any, ...] = ()
    events: tuple[Any, ...] = ()
    refusal: Refused | None = None


def load(path: Path, text: str | None = None) -> Scenario:
    """Load a scenario from a TOML or JSON file."""
    text = path.read_text("utf-8") if text is None else text
    try:
        raw = msgspec.json.decode(text) if path.suffix == ".json" else tomllib.loads(text)
        return convert(raw, Scenario)
    except (msgspec.MsgspecError, tomllib.TOMLDecodeError) as error:
        raise Invalid(f"{path} is not a scenario: {error}") from error


def run(scenario: Scenario, game: Game | None = None) -> Any:
    """Play the whole scenario and return the last state; raise Failed if an expectation does not hold."""
    *_, last = play_steps(scenario, game)
    return last.state


def play_steps(scenario: Scenario, game: Game | None = None) -> Iterator[ScenarioMoment]:
    """Yield the opening, and the stage after each step; raise Failed if an expectation does not hold."""
    game = game or _find(scenario.game)
    rig = Rig(scenario.rig, _make_source(scenario.title))
    stage = _open(scenario, game, rig)
    yield stage
    for number, step in enumerate(scenario.steps, 1):
        where = f"step {number} (seat {step.seat}: {step.move or step.refused})"
        stage = _play_step(stage, step, where, rig)
        _check(stage, step.expect, where)
        yield stage
    _check(stage, scenario.expect, "the end")
    _check_rig_is_empty(rig, "the end")


class Trial(Struct, frozen=True):
    """The stage after another move than the scenario's last one, and whether that step's expectations hold."""

    stage: ScenarioMoment
    fits: bool


def play_to_last(scenario: Scenario, game: Game | None = None) -> ScenarioMoment:
    """Return the stage before the last move of the scenario."""
    *_, stage = itertools.islice(play_steps(scenario, game), len(scenario.steps))
    return stage


def try_instead(scenario: Scenario, text: str, spell: menus.Spell = lambda token: (token,)) -> Trial:
    """Make the move that this text means instead of the last one; raise Refused if the rules do not allow it."""
    stage, step = play_to_last(scenario), scenario.steps[-1]
    rig = Rig(step.rig, Rig(scenario.rig, _make_source(scenario.title)))
    move = menus.parse_move(stage.game.menu(stage.state, step.seat), text, spell)
    outcome = games.play(stage.game, stage.state, step.seat, move, Chance(rig))
    after = ScenarioMoment(stage.game, stage.seats, outcome.state, outcome.events, stage.events + outcome.events)
    try:
        _check(after, step.expect, "")
    except Failed:
        return Trial(after, False)
    return Trial(after, True)


def _make_source(title: str) -> chances.Source:
    """Return a source for draws that are not rigged; the same for a scenario every time."""
    key, numbers = chances.derive_key(title.encode(), ()), itertools.count()
    return lambda label, faces, _: chances.compute_draw(key, 0, next(numbers), len(faces))


def _find(name: str) -> Game:
    try:
        return catalogue.find(name)
    except Refused as refused:
        raise Invalid(f"the opening: {refused}") from refused


def _check_rig_is_empty(rig: Rig, where: str) -> None:
    """Raise Failed for rigged results that were never drawn: the rules did something else than the example expects."""
    if rig.left:
        left = "; ".join(f"“{label}”: {', '.join(map(str, results))}" for label, results in rig.left.items())
        raise Failed(f"{where}: foreseen but never drawn: {left}")


def _open(scenario: Scenario, game: Game, rig: Rig) -> ScenarioMoment:
    try:
        options = parse_options(game.META.options, scenario.options)
        state, events = games.begin(game, options, scenario.seats, Chance(rig))
    except Refused as refused:
        raise Invalid(f"the opening: {refused}") from refused
    except chances.UnexpectedDraw as unforced:
        raise Failed(f"the opening: {unforced}") from unforced
    state = patch(game, state, scenario.given) if scenario.given else state
    return ScenarioMoment(game, scenario.seats, state, events, events)


def patch(game: Game, state: Any, changes: Mapping[str, Any]) -> Any:
    """Return the state with these changes: tables are merged, all other values are replaced.

    The text `"-"` removes a key, and `"*" = "-"` removes all. Events that the rules force then are left to the next
    move.
    """
    try:
        return convert(_merge(msgspec.to_builtins(state, str_keys=True), changes), game.State, strict=False)
    except msgspec.ValidationError as error:
        raise Invalid(f"what is given does not make a position: {error}") from error


def _merge(old: Any, new: Any) -> Any:
    """Return the old value with the changes of `patch`; only two tables are merged, key by key."""
    if not isinstance(new, Mapping) or not isinstance(old, Mapping):
        return new
    remaining = {key: value for key, value in old.items() if "-" not in (new.get("*"), new.get(key))}
    return remaining | {key: _merge(old.get(key), value) for key, value in new.items() if value != "-"}


def _play_step(stage: ScenarioMoment, step: ScenarioStep, where: str, rig: Rig) -> ScenarioMoment:
    if bool(step.move) == bool(step.refused):
        raise Failed(f"{where}: say either what is moved or what is refused")
    if not 0 <= step.seat < stage.seats:
        raise Failed(f"{where}: there is no such seat")
    own = Rig(step.rig, rig)
    menu = stage.game.menu(stage.state, step.seat)
    try:
        move = menus.parse_move(menu, step.move or step.refused)
        outcome = games.play(stage.game, stage.state, step.seat, move, Chance(own))
    except Refused as refused:
        return _check_refusal(stage, step, where, refused)
    except chances.UnexpectedDraw as unforced:
        raise Failed(f"{where}: {unforced}") from unforced
    if step.refused:
        raise Failed(f"{where}: was accepted")
    _check_rig_is_empty(own, where)
    return ScenarioMoment(stage.game, stage.seats, outcome.state, outcome.events, stage.events + outcome.events)


def _check_refusal(stage: ScenarioMoment, step: ScenarioStep, where: str, refused: Refused) -> ScenarioMoment:
    if step.move:
        raise Failed(f"{where}: {refused}")
    if step.because.casefold() not in str(refused).casefold():
        raise Failed(f"{where}: was refused with “{refused}”, not because “{step.because}”")
    return replace(stage, refusal=refused)


def _check(stage: ScenarioMoment, expectations: Sequence[Expectation], where: str) -> None:
    for expectation in expectations:
        match expectation:
            case str():
                _check_sentence(stage, expectation, where)
            case Claim(event=dict(event)):
                _check_event(stage, event, where)
            case Claim():
                _check_view(stage, expectation, where)


def _check_event(stage: ScenarioMoment, expected: Mapping[str, Any], where: str) -> None:
    events = [_convert_event(event) for event in stage.latest]
    if not any(expected.items() <= event.items() for event in events):
        raise Failed(f"{where}: no {expected} happened, only {events}")


def _convert_event(event: Any) -> dict[str, Any]:
    """Convert an event to plain values, including the defaults that its stored form omits."""
    return {"type": type(event).__name__, **_convert(asdict(event))}


def _convert(value: Any) -> Any:
    """Convert a value to lists, texts and numbers, as if it came from a file."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _check_view(stage: ScenarioMoment, claim: Claim, where: str) -> None:
    value = _convert(stage.game.view(stage.state, claim.seat))
    for key in claim.path.split("."):
        value = _get_item(value, key, f"{where}: {claim.path}")
    if value != claim.value:
        raise Failed(f"{where}: {claim.path} is {value!r}, not {claim.value!r}")


def _get_item(value: Any, key: str, where: str) -> Any:
    try:
        return value[int(key)] if isinstance(value, Sequence) else value[key]
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise Failed(f"{where} is not in the view") from error


def _check_sentence(stage: ScenarioMoment, sentence: str, where: str) -> None:
    for pattern, holds in SENTENCES.items():
        match = re.fullmatch(pattern, sentence)
        if match:
            if _holds(stage, holds, match.groups(), f"{where}: “{sentence}”"):
                return
            raise Failed(f"{where}: “{sentence}” does not hold; {_describe(stage)}")
    raise Invalid(f"{where}: there is no check “{sentence}”; engine/README.md lists those that exist")


def _holds(stage: ScenarioMoment, holds: Callable[..., bool], words: Sequence[str], where: str) -> bool:
    try:
        return holds(stage, *words)
    except IndexError as error:
        raise Failed(f"{where} speaks of a seat that is not there") from error


def _find_seats_to_move(stage: ScenarioMoment) -> list[int]:
    return [seat for seat in range(stage.seats) if stage.game.menu(stage.state, seat)]


def _describe(stage: ScenarioMoment) -> str:
    scores = [standing.score for standing in stage.game.standing(stage.state)]
    events = ", ".join(type(event).__name__ for event in stage.latest)
    return f"to move: {_find_seats_to_move(stage)}, scores {scores}, happened: {events}"


def _can_move(stage: ScenarioMoment, seat: str, move: str) -> bool:
    try:
        menus.parse_move(stage.game.menu(stage.state, int(seat)), move)
    except Refused:
        return False
    return True


def _has_event(events: Sequence[Any], name: str) -> bool:
    return any(type(event).__name__ == name for event in events)


SENTENCES: dict[str, Callable[..., bool]] = {
    r"seat (\d+) has (-?\d+) points?": lambda stage, seat, points: (
        stage.game.standing(stage.state)[int(seat)].score == int(points)
    ),
    r"seat (\d+) is to move": lambda stage, seat: int(seat) in _find_seats_to_move(stage),
    r"seat (\d+) is not to move": lambda stage, seat: int(seat) not in _find_seats_to_move(stage),
    r"nobody is to move": lambda stage: not _find_seats_to_move(stage),
    r"seat (\d+) may (?!not )(.+)": _can_move,
    r"seat (\d+) may not (.+)": lambda stage, seat, move: not _can_move(stage, seat, move),
    r"seat (\d+) is out": lambda stage, seat: stage.game.standing(stage.state)[int(seat)].out,
    r"seat (\d+) is in": lambda stage, seat: not stage.game.standing(stage.state)[int(seat)].out,
    r"seat (\d+) is placed (\d+)": lambda stage, seat, place: (
        stage.game.standing(stage.state)[int(seat)].place == int(place)
    ),
    r"seat (\d+) wins": lambda stage, seat: stage.game.standing(stage.state)[int(seat)].place == 1,
    r"the game is over": lambda stage: games.is_over(stage.game, stage.state),
    r"the game goes on": lambda stage: not games.is_over(stage.game, stage.state),
    r"(\w+) happened": lambda stage, name: _has_event(stage.latest, name),
    r"(\w+) did not happen": lambda stage, name: not _has_event(stage.latest, name),
    r"(\w+) never happened": lambda stage, name: not _has_event(stage.events, name),
}
