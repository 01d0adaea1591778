"""What if: a private copy of the table on which a player tries how the game could go on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flask import Blueprint, Response, redirect, request, url_for
from msgspec import Struct
from msgspec.structs import replace
from werkzeug.wrappers import Response as Reply

from engine import record
from engine.refusal import Refused
from service import numbers
from service.plans import branch_orders, branches
from service.plans.branches import Branch, PlayedBranch
from service.tables import access, snapshots
from service.tables.access import Place, Unknown
from service.tables.snapshots import Snapshot
from service.text.drawing import Player, Scene, Stage, Voice, board_text, players, stage
from service.web.menu_forms import TurnForm, make_turn_form
from service.web.rendering import game_title, get_app, language, render

whatif = Blueprint("whatif", __name__, url_prefix="/t/<link>/whatif")
MAX_DEALT_CHARS = 3


class BranchStep(Struct, frozen=True):
    """One move of a branch as the page describes it; `secret` if this seat would not see all of it at the table."""

    number: int
    player: str
    move: str
    sentences: tuple[str, ...]
    secret: bool


class BranchPlayer(Struct, frozen=True):
    """A player in the position of a branch."""

    seat: int
    player: Player
    is_you: bool
    to_move: bool
    is_out: bool
    score: int
    place: int | None


class BranchesPage(Struct, frozen=True):
    """Everything `branches.html` shows: the branches of a seat, and a button that begins another one."""

    link: str
    title: str
    at: int  # the entry after which a new branch begins
    last: int
    branches: tuple[Branch, ...]


class WhatIfPage(Struct, frozen=True):
    """Everything `whatif.html` shows: a branch after some of its moves."""

    link: str
    game: str
    title: str
    error: Refused | None
    branch: Branch
    branches: tuple[Branch, ...]
    at_step: int
    length: int
    lost: int  # how many of its last moves are not possible any more
    dealt: int | None  # how many moves were taken back when everything hidden was dealt again
    knows_all: bool
    actor: int  # the seat that the page plays for
    turn: TurnForm
    players: tuple[BranchPlayer, ...]
    steps: tuple[BranchStep, ...]
    stage: Stage
    text: str
    description: str
    is_over: bool
    may_order: bool  # whether the game at the table still runs
    is_ordered: bool  # whether this branch has standing orders

    @property
    def to_move(self) -> tuple[BranchPlayer, ...]:
        return tuple(one for one in self.players if one.to_move)


@whatif.get("")
def every(link: str) -> Response:
    """Show all branches of this seat."""
    place = access.find(get_app(), link)
    table = snapshots.look(get_app(), place.table)
    last = table.row.length - 1
    page = BranchesPage(
        link=link,
        title=game_title(table.game.META),
        at=min(_parse_int(request.args.get("at", ""), last), last),
        last=last,
        branches=tuple(branches.of(get_app(), place)),
    )
    return render("branches.html", page)


@whatif.post("")
def begin(link: str) -> Reply:
    """Begin a branch with the position after some entry."""
    app, place = get_app(), access.find(get_app(), link)
    last = snapshots.look(app, place.table).row.length - 1
    number = branches.begin(app, place, _parse_int(request.form.get("at", ""), last))
    return _show_branch(link, number)


@whatif.get("/<int:number>")
def show(link: str, number: int) -> Response:
    """Show a branch after some of its moves."""
    return _page(access.find(get_app(), link), number)


@whatif.post("/<int:number>")
def play(link: str, number: int) -> Reply:
    """Make a move in the branch, for any seat."""
    app, form = get_app(), request.form
    place = access.find(app, link)
    text = " ".join(" ".join(word.split()) for name in ("move", "verb", "arg") for word in form.getlist(name))
    step, seat = _parse_int(form.get("step", ""), branches.LONGEST), _parse_int(form.get("as", ""), 0)
    try:
        number, step = branches.play(app, place, number, step, seat, text)
    except Unknown:
        raise
    except Refused as refused:
        return _page(place, number, refused)
    return redirect(url_for("whatif.show", link=link, number=number, step=step), 303)


@whatif.post("/<int:number>/cut")
def cut(link: str, number: int) -> Reply:
    """Take moves back."""
    branches.cut(get_app(), access.find(get_app(), link), number, _parse_step())
    return _show_branch(link, number)


@whatif.post("/<int:number>/fork")
def fork(link: str, number: int) -> Reply:
    """Copy the moves so far into another branch."""
    return _show_branch(link, branches.fork(get_app(), access.find(get_app(), link), number, _parse_step()))


@whatif.post("/<int:number>/deal")
def deal(link: str, number: int) -> Reply:
    """Deal everything hidden again, by other chance."""
    lost = branches.deal(get_app(), access.find(get_app(), link), number)
    return redirect(url_for("whatif.show", link=link, number=number, dealt=lost), 303)


@whatif.post("/<int:number>/name")
def rename(link: str, number: int) -> Reply:
    """Give a branch a name."""
    branches.rename(get_app(), access.find(get_app(), link), number, request.form.get("name", ""))
    return _show_branch(link, number)


@whatif.post("/<int:number>/delete")
def remove(link: str, number: int) -> Reply:
    """Delete a branch."""
    branches.remove(get_app(), access.find(get_app(), link), number)
    return redirect(url_for("whatif.every", link=link), 303)


@whatif.post("/<int:number>/orders")
def order(link: str, number: int) -> Reply:
    """Make the player's own moves of a branch standing orders."""
    branch_orders.keep(get_app(), access.find(get_app(), link), number)
    return redirect(url_for("table.show", link=link, _anchor="orders"), 303)


@whatif.post("/<int:number>/forget")
def forget(link: str, number: int) -> Reply:
    """Drop the standing orders of a branch."""
    branch_orders.forget(get_app(), access.find(get_app(), link), number)
    return redirect(url_for("table.show", link=link, _anchor="orders"), 303)


def _show_branch(link: str, number: int) -> Reply:
    return redirect(url_for("whatif.show", link=link, number=number), 303)


def _page(place: Place, number: int, error: Refused | None = None) -> Response:
    """Render a branch after the number of moves that the request gives; after all of them without one."""
    app = get_app()
    table, branch = snapshots.look(app, place.table), branches.find(app, place, number)
    line = branches.line(app, table, branch)
    step = min(_parse_int(request.values.get("step", ""), len(line)), len(line))
    state, standing = line.states[step], table.game.standing(line.states[step])
    to_move = [seat for seat in range(len(table.seats)) if table.game.menu(state, seat)]
    actor = _choose_actor(to_move, branch.seat)
    scene = _make_scene(table, state, actor, bool(to_move))
    narrator = Voice(table.game, table.names, language(), actor, view=scene.view)
    intentions = branch_orders.intentions(app, place)
    page = WhatIfPage(
        link=place.link,
        game=table.game.META.name,
        title=game_title(table.game.META),
        error=error,
        branch=branch,
        branches=tuple(branches.of(app, place)),
        at_step=step,
        length=len(line),
        lost=len(branch.moves) - len(line),
        dealt=_parse_dealt(request.args.get("dealt", "")),
        knows_all=branches.knows_all(table, branch.at),
        actor=actor,
        turn=_turn_form(place.link, branch, step, actor, scene, narrator),
        players=tuple(
            BranchPlayer(seat, player, seat == place.seat, seat in to_move, one.out, one.score, one.place)
            for seat, (player, one) in enumerate(zip(scene.players, standing, strict=True))
        ),
        steps=tuple(_steps(table, branch, line)),
        stage=stage(scene),
        text=board_text(scene),
        description=narrator.alt(scene.view),
        is_over=standing[0].place is not None,
        may_order=table.table.phase == "playing",
        is_ordered=any(one.number == number and not one.left for one in intentions),
    )
    return render("whatif.html", page, 422 if error else 200)


def _choose_actor(to_move: list[int], me: int) -> int:
    """Return the seat that the page plays for: the chosen one, else the player's own, else the first to move."""
    chosen = _parse_int(request.values.get("as", ""), me)
    return chosen if chosen in to_move else me if me in to_move or not to_move else to_move[0]


def _make_scene(table: Snapshot, state: Any, actor: int, can_move: bool) -> Scene:
    menu = table.game.menu(state, actor) if can_move else ()
    return Scene(table.game, table.game.view(state, actor), players(table.names), actor, menu, language())


def _turn_form(link: str, branch: Branch, step: int, actor: int, scene: Scene, narrator: Voice) -> TurnForm:
    path = url_for("whatif.show", link=link, number=branch.id)
    words, hidden = request.args.get("say", "").split(), {"step": step, "as": actor}
    following = f"{path}?step={step}&as={actor}&"
    turn = make_turn_form(scene.game.META.name, scene.menu, narrator, words, path, following, hidden)
    return replace(turn, rules={})  # the script of this page has no place to show them


def _steps(table: Snapshot, branch: Branch, line: PlayedBranch) -> Iterator[BranchStep]:
    """Describe the moves so far as this seat would see them at the table."""
    narrator = Voice(table.game, table.names, language(), branch.seat)
    for number, ((seat, move), events) in enumerate(zip(branch.moves, line.events, strict=False), 1):
        seen = tuple(record.hear(table.game, event, branch.seat) for event in events)
        sentences = tuple(sentence for event in seen if event is not None and (sentence := narrator.tell(event)))
        yield BranchStep(number, table.names[seat], move, sentences, seen != events)


def _parse_step() -> int:
    return _parse_int(request.form.get("step", ""), branches.LONGEST)


def _parse_dealt(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) <= MAX_DEALT_CHARS else None


def _parse_int(text: str, default: int) -> int:
    number = numbers.read(text, 2**31 - 1)
    return default if number is None else number
