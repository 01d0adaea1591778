"""Menus of all games, with what a page draws of them, as JSON for the tests of the scripts.

`python -m tests.scripts.menus` writes a few of them to `menus.json`, for `node --test "tests/scripts/*.test.mjs"`.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from engine import catalogue
from engine import chance as chances
from engine import game as games
from engine.chance import UnexpectedDraw
from engine.contract import cases as contract
from engine.contract.cases import Case, Position, play_case, sample
from engine.games import carcassonne
from engine.games.carcassonne import boxes
from engine.menu import Menu, Move
from engine.refusal import Refused
from service.text import drawing
from service.web import menu_forms
from tests.carcassonne_boxes import goes_together

FILE = Path(__file__).with_name("menus.json")
NAMES = ("Anna", "Bert", "Clara", "Dora", "Emil", "Frida", "Gustav", "Hanna")
LARGEST = 400  # options of a menu in the file
RARE_GAMES = 30  # of each box, until each of its moves was made once


class Drawn(HTMLParser):
    """What can be touched in a drawing, the verb whose piece is shown as a ghost, and the pieces with their places."""

    def __init__(self, drawn: str) -> None:
        super().__init__()
        self.spots: list[dict[str, Any]] = []
        self.ghost: str | None = None
        self.named = dict[str, Any]()
        self.touched = dict[str, Any]()
        self.pieces: list[dict[str, Any]] = []
        self.added: list[dict[str, Any]] = []
        self.results: list[str] = []
        self.feed(drawn)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        token, point = values.get("data-token"), find_point(values)
        if token is not None:
            self.spots.append({"token": token, "early": "data-early" in values})
        if token is not None and tag != "span":
            self.touched[token] = {**point, "middle": "data-point" in values}
        elif "data-place" in values and "transform" in values:
            self.named[values["data-place"]] = {**point, "middle": True}
        if "data-piece" in values:
            self.pieces.append({**point, **describe_piece(values)})
        self.added += [describe_added(values)] if "data-new" in values else []
        self.results += [values["data-result"]] if "data-result" in values else []
        self.ghost = values.get("data-ghost", self.ghost)

    def list_drawing(self, data: list[dict[str, Any]]) -> dict[str, Any]:
        """Return where the pieces and the places of a menu are, as the script reads it from the page."""
        words = {word for entry in data for row in entry.get("options", ()) for word in row}
        places = {name: at for name, at in {**self.named, **self.touched}.items() if words & {*name.split()}}
        return {"places": places, "pieces": self.pieces, "added": self.added, "results": self.results}


def find_point(values: dict[str, str]) -> dict[str, int]:
    """Return where an element is."""
    return parse_point(values.get("data-point") or values.get("transform", ""))


def parse_point(text: str) -> dict[str, int]:
    """Return the first two numbers of a text as a point, or the origin."""
    numbers = re.findall(r"-?[\d.]+", text)
    return dict(zip("xy", (round(float(number)) for number in numbers or (0, 0)), strict=False))


def describe_piece(values: dict[str, str]) -> dict[str, Any]:
    """Return how moves move a piece."""
    x, y = map(float, values.get("data-shift", "0 0").split())
    gone = values.get("data-gone", "").split("|")
    verbs = {"moves": values.get("data-moves", "").split(), "gone": [move for move in gone if move]}
    return {**verbs, "leaves": values.get("data-leaves", ""), "shift": {"x": x, "y": y}}


def describe_added(values: dict[str, str]) -> dict[str, Any]:
    """Return for which moves a piece is drawn already, and where it is put and comes from."""
    points = {"at": values.get("data-point"), "start": values.get("data-start")}
    return {"begin": values["data-new"], **{name: parse_point(text) for name, text in points.items() if text}}


def all_cases() -> list[Case]:
    """Every game of the catalogue with every option."""
    return contract.make_cases(catalogue.find_all().values())


def menus(cases: Iterable[Case], most: int) -> Iterator[dict[str, Any]]:
    """Return the menus of some positions of a random game for each case."""
    for case in cases:
        turns = [
            one for one in play_case(case, b"menus for scripts") if one.before is not None and one.seat is not None
        ]
        for position in sample(tuple(turns), most):
            yield menu_at(case, position)


def list_rare() -> list[dict[str, Any]]:
    """Return a menu of Carcassonne for each kind of move, of games that are played until each box had all its moves."""
    found = dict[tuple[str, ...], dict[str, Any]]()
    verbs = list_own_verbs()
    for box, number in itertools.product(verbs, range(RARE_GAMES)):
        chosen = {"messages": "off", box: "on"}
        if verbs[box] - {verb for verb, *_ in found} and goes_together(chosen, seats := 2 + number % 4):
            case = Case(carcassonne, seats, tuple(chosen.items()))
            for turn in play_case(case, b"rare %d" % number):
                if turn.move and turn.before is not None and (kind := classify_move(turn.move)) not in found:
                    found[kind] = menu_at(case, turn)
    return list(found.values())


def list_own_verbs() -> dict[str, set[str]]:
    """Return the verbs that boxes add, by the option with which they are played."""
    verbs = dict[str, set[str]]()
    for box in boxes.BOXES:
        verbs.setdefault([*box.switches, box.option][0], set()).update(box.verbs)
    return verbs


def classify_move(move: Move) -> tuple[str, ...]:
    """Return what kind of move it is: its verb, and its words that name no place and no number."""
    words = (word.partition("-")[0] for word in move.args)
    return (move.verb, *(word for word in words if word.isalpha() and word.islower()), str(len(move.args)))


def menu_at(case: Case, position: Position) -> dict[str, Any]:
    """Return the menu of a seat before its move, and the one after it if the turn goes on and nothing is drawn."""
    shown = drawn_menu(case, position.before, position.seat, case.game.menu(position.before, position.seat))
    chance = chances.make_rigged({})
    try:
        after = games.play(case.game, position.before, position.seat, position.move, chance).state
    except (Refused, UnexpectedDraw):
        return shown
    menu = case.game.menu(after, position.seat)
    if chance.draws or not menu:
        return shown
    return {**shown, "move": str(position.move), "next": drawn_menu(case, after, position.seat, menu)}


def drawn_menu(case: Case, state: Any, seat: int | None, menu: Menu) -> dict[str, Any]:
    """Return a menu as data, with the spots and the ghost of the page."""
    view = case.game.view(state, seat)
    stage = drawing.draw_stage(drawing.Scene(case.game, view, drawing.list_players(NAMES[: case.seats]), seat, menu))
    drawn = Drawn(f"{stage.world}{stage.tray}")
    things = [spot["token"] for spot in Drawn(stage.tray).spots] + re.findall(r'data-thing="([^"]+)"', stage.tray)
    data = menu_forms.dump_menu(menu)
    return {
        "case": str(case),
        "menu": data,
        "spots": drawn.spots,
        "ghost": drawn.ghost,
        "tray": things,
        "drawing": drawn.list_drawing(data),
    }


def write_sample() -> None:
    """Write a few menus of every game: of the plain game, of the one with all its options, and with each rare move."""
    every = {game: [case for case in all_cases() if case.game is game] for game in catalogue.find_all().values()}
    chosen = [case for cases in every.values() for case in (cases[0], cases[-1])]
    all_menus = [*menus(chosen, 4), *list_rare()]
    found = [one for one in all_menus if sum(len(entry.get("options", ())) for entry in one["menu"]) <= LARGEST]
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in found)
    FILE.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    write_sample()
