"""Scenario files: worked examples of the rules, told as data and checked without any service.

The format is described in `engine/README.md`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from engine import catalogue
from engine import chance as chances
from engine import game as games
from engine import menu as menus
from engine import options as choices
from engine.game import Game
from engine.refusal import Refused


class Claim(Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that has to be true: a value in somebody's view, or an event that happened (any of its fields)."""

    path: str = ""
    seat: int | None = None
    value: Any = None
    event: dict[str, Any] | None = None


Expectation = str | Claim


class Step(Struct, frozen=True, forbid_unknown_fields=True):
    """A move that is played, or one that is refused for a reason; what holds after it may be said at once."""

    seat: int
    move: str = ""
    refused: str = ""
    because: str = ""
    rig: dict[str, list[Any]] = {}
    expect: tuple[str | dict[str, Any], ...] = ()


class Scenario(Struct, frozen=True, forbid_unknown_fields=True):
    """A worked example."""

    game: str
    seats: int
    title: str = ""
    source: str = ""
    options: dict[str, Any] = {}
    given: dict[str, Any] = {}
    rig: dict[str, list[Any]] = {}
    steps: tuple[Step, ...] = ()
    expect: tuple[str | dict[str, Any], ...] = ()


class Failed(Exception):
    """A scenario that does not hold, and where."""


class _Stage(Struct, frozen=True):
    """Where a scenario has come to: the position, and everything that happened in the last step and before."""

    game: Game
    seats: int
    state: Any
    latest: tuple[Any, ...] = ()
    events: tuple[Any, ...] = ()


def load(path: Path, text: str | None = None) -> Scenario:
    """A scenario from a TOML or JSON file."""
    text = path.read_text("utf-8") if text is None else text
    try:
        raw = msgspec.json.decode(text) if path.suffix == ".json" else tomllib.loads(text)
        return msgspec.convert(raw, Scenario)
    except (msgspec.MsgspecError, tomllib.TOMLDecodeError) as error:
        raise Failed(f"{path} is not a scenario: {error}") from error


def run(scenario: Scenario, game: Game | None = None) -> Any:
    """Play the scenario through and return the last position; raises Failed where something is not as it says."""
    game = game or catalogue.find(scenario.game)
    chance = chances.rigged(scenario.rig, chances.sealed(b"scenario" + scenario.title.encode(), 0).source)
    options = choices.read(game.META.options, scenario.options)
    played = games.begin(game, options, scenario.seats, chance)
    state = patched(game, played.state, scenario.given) if scenario.given else played.state
    stage = _Stage(game, scenario.seats, state, played.events, played.events)
    for number, step in enumerate(scenario.steps, 1):
        where = f"step {number} (seat {step.seat}: {step.move or step.refused})"
        stage = _step(stage, step, where, chance)
        _check(stage, step.expect, where)
    _check(stage, scenario.expect, "the end")
    return stage.state


def patched(game: Game, state: Any, patch: Mapping[str, Any]) -> Any:
    """The state with some of its parts replaced: tables are merged, everything else is put in its place.

    The text `"-"` removes a key. Forced consequences of the patched position are left for the next move.
    """
    try:
        return msgspec.convert(_merged(msgspec.to_builtins(state, str_keys=True), patch), game.State, strict=False)
    except msgspec.ValidationError as error:
        raise Failed(f"what is given does not make a position: {error}") from error


def _merged(old: Any, new: Any) -> Any:
    if not isinstance(new, Mapping) or not isinstance(old, Mapping):
        return new
    kept = {key: value for key, value in old.items() if new.get(key) != "-"}
    return kept | {key: _merged(old.get(key), value) for key, value in new.items() if value != "-"}


def _step(stage: _Stage, step: Step, where: str, chance: chances.Chance) -> _Stage:
    if bool(step.move) == bool(step.refused):
        raise Failed(f"{where}: say either what is moved or what is refused")
    own = chances.rigged(step.rig, chance.source)
    menu = stage.game.menu(stage.state, step.seat)
    try:
        move = menus.from_text(menu, step.move or step.refused)
        played = games.play(stage.game, stage.state, step.seat, move, own)
    except Refused as refused:
        return _refused(stage, step, where, refused)
    if step.refused:
        raise Failed(f"{where}: was accepted")
    return replace(stage, state=played.state, latest=played.events, events=stage.events + played.events)


def _refused(stage: _Stage, step: Step, where: str, refused: Refused) -> _Stage:
    if step.move:
        raise Failed(f"{where}: {refused}")
    if step.because.casefold() not in str(refused).casefold():
        raise Failed(f"{where}: was refused with “{refused}”, not because “{step.because}”")
    return stage


def _check(stage: _Stage, expectations: Sequence[str | dict[str, Any]], where: str) -> None:
    for expectation in expectations:
        if isinstance(expectation, str):
            _check_sentence(stage, expectation, where)
        else:
            _check_claim(stage, msgspec.convert(expectation, Claim), where)


def _check_claim(stage: _Stage, claim: Claim, where: str) -> None:
    if claim.event is not None:
        happened = [_plain(event) for event in stage.latest or stage.events]
        if not any(all(event.get(key) == value for key, value in claim.event.items()) for event in happened):
            raise Failed(f"{where}: no {claim.event} happened, only {happened}")
        return
    found = _plain(stage.game.view(stage.state, claim.seat))
    for key in claim.path.split("."):
        found = _at(found, key, f"{where}: {claim.path}")
    if found != claim.value:
        raise Failed(f"{where}: {claim.path} is {found!r}, not {claim.value!r}")


def _plain(value: Any) -> Any:
    """The value as a file would tell it: with lists for tuples, and texts for keys."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _at(found: Any, key: str, where: str) -> Any:
    try:
        return found[int(key)] if isinstance(found, Sequence) else found[key]
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise Failed(f"{where} is not in the view") from error


def _check_sentence(stage: _Stage, sentence: str, where: str) -> None:
    for pattern, holds in SENTENCES.items():
        found = re.fullmatch(pattern, sentence)
        if found:
            if holds(stage, *found.groups()):
                return
            raise Failed(f"{where}: “{sentence}” does not hold; {_situation(stage)}")
    raise Failed(f"{where}: nobody knows how to check “{sentence}”")


def _to_move(stage: _Stage) -> list[int]:
    return [seat for seat in range(stage.seats) if stage.game.menu(stage.state, seat)]


def _situation(stage: _Stage) -> str:
    scores = [standing.score for standing in stage.game.standing(stage.state)]
    return f"to move: {_to_move(stage)}, scores {scores}, happened: {', '.join(type(e).__name__ for e in stage.latest)}"


def _may(stage: _Stage, seat: str, move: str) -> bool:
    try:
        menus.from_text(stage.game.menu(stage.state, int(seat)), move)
    except Refused:
        return False
    return True


def _happened(events: Sequence[Any], name: str) -> bool:
    return any(type(event).__name__ == name for event in events)


SENTENCES: dict[str, Callable[..., bool]] = {
    r"seat (\d+) has (-?\d+) points?": lambda stage, seat, points: (
        stage.game.standing(stage.state)[int(seat)].score == int(points)
    ),
    r"seat (\d+) is to move": lambda stage, seat: int(seat) in _to_move(stage),
    r"seat (\d+) is not to move": lambda stage, seat: int(seat) not in _to_move(stage),
    r"nobody is to move": lambda stage: not _to_move(stage),
    r"seat (\d+) may (?!not )(.+)": _may,
    r"seat (\d+) may not (.+)": lambda stage, seat, move: not _may(stage, seat, move),
    r"seat (\d+) is out": lambda stage, seat: stage.game.standing(stage.state)[int(seat)].out,
    r"seat (\d+) is in": lambda stage, seat: not stage.game.standing(stage.state)[int(seat)].out,
    r"seat (\d+) is placed (\d+)": lambda stage, seat, place: (
        stage.game.standing(stage.state)[int(seat)].place == int(place)
    ),
    r"seat (\d+) wins": lambda stage, seat: stage.game.standing(stage.state)[int(seat)].place == 1,
    r"the game is over": lambda stage: games.is_over(stage.game, stage.state),
    r"the game goes on": lambda stage: not games.is_over(stage.game, stage.state),
    r"(\w+) happened": lambda stage, name: _happened(stage.latest, name),
    r"(\w+) did not happen": lambda stage, name: not _happened(stage.latest, name),
    r"(\w+) never happened": lambda stage, name: not _happened(stage.events, name),
}
