"""Pages of “what if”: a private copy of the table on which a player tries out how it could go on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flask import Blueprint, Response, redirect, request, url_for
from msgspec import Struct
from sqlalchemy import Connection
from werkzeug.wrappers import Response as Reply

from engine import log
from engine.game import Standing
from engine.refusal import Refused
from service.numbers import MAX_ENTRY, parse_int
from service.tables import access, branch_orders, branches, judging, snapshots, standing_orders
from service.tables.access import Place, TransferredAway, Unknown
from service.tables.branches import Branch, PlayedBranch
from service.tables.snapshots import Snapshot
from service.text.drawing import Player, Scene, Stage, draw_board_text, draw_stage, list_players
from service.text.narration import Narrator
from service.web.current_request import get_app, get_language
from service.web.menu_forms import Turn, make_turn
from service.web.plan_view import PlanStep, list_branch_steps
from service.web.rendering import render, translate_title
from service.web.table_pages import join_move_fields

LAST_STEP = branches.MAX_MOVES  # a page shows no later step than its branch has
MAX_DEALT = 999  # undone moves, in the address of a page
whatif = Blueprint("whatif", __name__, url_prefix="/t/<link>/whatif")


class BranchStep(Struct, frozen=True):
    """A move of a branch; `secret` if this seat would not see all of it at the table."""

    number: int
    who: str
    move: str
    sentences: tuple[str, ...]
    secret: bool


class BranchLink(Struct, frozen=True):
    """A branch in a list."""

    id: int
    name: str  # empty if the player gave it none
    seq: int  # the entry after which it begins
    moves: int  # how many it has


class BranchesPage(Struct, frozen=True):
    """Everything `branches.html` shows: a player's branches, and where a new one would begin."""

    link: str
    title: str
    branches: tuple[BranchLink, ...]
    at: int
    last: int


class BranchPlayer(Struct, frozen=True):
    """A player at one position of a branch."""

    player: Player
    is_you: bool
    is_to_move: bool
    score: int
    place: int | None
    is_out: bool
    level: str = ""  # of a bot; this and the next are shown by the strip of a table
    is_here: bool = False


class Mover(Struct, frozen=True):
    """A seat that could move, and whether the page plays for it."""

    seat: int
    name: str
    is_chosen: bool


class WhatIfPage(Struct, frozen=True):
    """Everything `whatif.html` shows: one position of a branch."""

    link: str
    title: str
    game: str
    me: int
    branch: BranchLink
    dealt: int | None  # how many moves were undone when hidden things were just dealt again; None if they were not
    lost: int  # how many moves are no longer possible
    step: int
    length: int
    is_over: bool
    movers: tuple[Mover, ...]  # empty if no seat can move
    actor: int  # the seat that the page plays for
    actor_name: str
    stage: Stage
    text: str
    alt: str
    turn: Turn
    steps: tuple[BranchStep, ...]
    players: tuple[BranchPlayer, ...]
    is_playing: bool  # whether the game at the table goes on
    plan: tuple[PlanStep, ...]
    has_own_moves: bool  # whether the branch has moves of the reader's seat, which can be ordered
    knows_all: bool
    branches: tuple[BranchLink, ...]
    error: Refused | None
    has_orders: bool


@whatif.get("")
def show_all(link: str) -> Response:
    """Show all branches of this seat, and a button that begins another one after the entry that the address names."""
    app = get_app()
    with app.store.reading() as db:
        place = access.find_place(db, link)
        table = snapshots.load_table(app, db, place.table)
        own = branches.list_branches(db, place)
    last = table.row.length - 1
    at = min(_parse_number(request.args.get("at", ""), default=last), last)
    page = BranchesPage(link, translate_title(table.game.META), tuple(map(_make_branch_link, own)), at, last)
    return render("branches.html", page)


def _make_branch_link(branch: Branch) -> BranchLink:
    return BranchLink(branch.id, branch.name, branch.seq, len(branch.moves))


@whatif.post("")
def begin(link: str) -> Reply:
    """Begin a branch after an entry, or after the last one; an empty branch that begins there is used again."""
    app = get_app()
    after = _parse_number(request.form.get("at", ""), default=MAX_ENTRY)  # a number beyond the log is its last entry
    with access.writing_at(app, link) as (db, place):
        number = branches.begin(app, db, place, after)
    return redirect(url_for("whatif.show", link=link, number=number), 303)


@whatif.get("/<int:number>")
def show(link: str, number: int) -> Response:
    """Show a branch after some of its moves."""
    return _render_branch(link, number)


@whatif.post("/<int:number>")
def play(link: str, number: int) -> Reply:
    """Make a move in the branch, for any seat.

    At a step before its end, a move that differs from its next one begins a new branch.
    """
    app, text, step = get_app(), join_move_fields(request.form), _parse_step()
    seat = _parse_number(request.form.get("as", ""), default=0)  # the forms of the page always name one
    try:
        with access.writing_at(app, link) as (db, place):
            number, step = branches.play(app, db, place, number, step, seat, text)
    except (Unknown, TransferredAway):
        raise  # there is no branch to show again
    except Refused as refused:
        return _render_branch(link, number, refused)
    return redirect(url_for("whatif.show", link=link, number=number, step=step), 303)


@whatif.post("/<int:number>/cut")
def cut(link: str, number: int) -> Reply:
    """Take back all moves after a step."""
    with access.writing_at(get_app(), link) as (db, place):
        branches.cut(db, place, number, _parse_step())
    return redirect(url_for("whatif.show", link=link, number=number), 303)


@whatif.post("/<int:number>/take-out")
def take_out(link: str, number: int) -> Reply:
    """Delete one move of the branch; later moves stay, as far as they are still possible."""
    with access.writing_at(get_app(), link) as (db, place):
        branches.take_out(db, place, number, _parse_step())
    return redirect(url_for("whatif.show", link=link, number=number, step=LAST_STEP), 303)


@whatif.post("/<int:number>/sooner")
def move_sooner(link: str, number: int) -> Response | Reply:
    """Exchange a move with the previous move of the same seat."""
    try:
        with access.writing_at(get_app(), link) as (db, place):
            branches.move_sooner(get_app(), db, place, number, _parse_step())
    except (Unknown, TransferredAway):
        raise  # there is no branch to show again
    except Refused as refused:
        return _render_branch(link, number, refused)
    return redirect(url_for("whatif.show", link=link, number=number, step=LAST_STEP), 303)


@whatif.post("/<int:number>/fork")
def fork(link: str, number: int) -> Reply:
    """Copy the branch up to a step, and go on in the copy."""
    with access.writing_at(get_app(), link) as (db, place):
        other = branches.fork(db, place, number, _parse_step())
    return redirect(url_for("whatif.show", link=link, number=other), 303)


@whatif.post("/<int:number>/deal")
def deal(link: str, number: int) -> Reply:
    """Deal everything hidden again, with other luck; the last moves are cut if they are no longer possible."""
    with access.writing_at(get_app(), link) as (db, place):
        lost = branches.deal(get_app(), db, place, number)
    return redirect(url_for("whatif.show", link=link, number=number, dealt=lost), 303)


@whatif.post("/<int:number>/name")
def rename(link: str, number: int) -> Reply:
    """Keep a branch under a name; an empty one removes the name."""
    with access.writing_at(get_app(), link) as (db, place):
        branches.rename(db, place, number, request.form.get("name", ""))
    return redirect(url_for("whatif.show", link=link, number=number), 303)


@whatif.post("/<int:number>/delete")
def remove(link: str, number: int) -> Reply:
    """Delete a branch."""
    with access.writing_at(get_app(), link) as (db, place):
        branches.remove(db, place, number)
    return redirect(url_for("whatif.show_all", link=link), 303)


@whatif.post("/<int:number>/orders")
def order_branch(link: str, number: int) -> Reply:
    """Make the own moves of a branch standing orders: if the game goes as in the branch, or always."""
    always = request.form.get("always") == "yes"
    with judging.at_seat(get_app(), link) as (work, place):  # which stores and publishes the table in `locked`
        work.locked, _order_count = branch_orders.order_branch(work.locked, place, number, always=always)
    return redirect(url_for("table.show", link=link, _anchor="plan"), 303)


@whatif.post("/<int:number>/forget")
def delete_orders(link: str, number: int) -> Reply:
    """Delete the standing orders that were made from a branch, and all orders that can never hold."""
    with judging.at_seat(get_app(), link) as (work, place):  # which stores and publishes the table in `locked`
        work.locked = standing_orders.delete_branch_orders(work.locked, access.require_seat(place), number)
    return redirect(url_for("table.show", link=link, _anchor="orders"), 303)


class ShownBranch(Struct, frozen=True):
    """A branch that a page shows at one step, the other branches of its seat, and whether orders were made from it."""

    place: Place
    table: Snapshot
    branch: Branch
    played: PlayedBranch
    step: int
    all_branches: tuple[Branch, ...]
    has_orders: bool


def _render_branch(link: str, number: int, error: Refused | None = None) -> Response:
    """Render the page of a branch; `error` is why a move or a change of it was refused."""
    with get_app().store.reading() as db:
        shown = _load_branch(db, access.find_place(db, link), number)
    return render("whatif.html", _make_page(shown, error), 422 if error else 200)


def _load_branch(db: Connection, place: Place, number: int) -> ShownBranch:
    """Load a branch at the step that the request names; at its last step if it names none, or a later one."""
    table = snapshots.load_table(get_app(), db, place.table)
    branch, all_branches = branches.find(db, place, number), branches.list_branches(db, place)
    played = branches.play_out(get_app(), db, table, branch)
    orders = standing_orders.list_orders(db, place.table, branch.seat)
    orders_of_branches = branch_orders.list_orders(db, place, orders)
    last_step = len(played)
    return ShownBranch(
        place=place,
        table=table,
        branch=branch,
        played=played,
        step=min(_parse_number(request.values.get("step", ""), default=last_step), last_step),
        all_branches=tuple(all_branches),
        has_orders=any(one.number == number and one.can_hold for one in orders_of_branches),
    )


def _make_page(shown: ShownBranch, error: Refused | None) -> WhatIfPage:
    """Make the page of a branch at one step, as the seat that the page plays for sees it."""
    branch, table, played, game = shown.branch, shown.table, shown.played, shown.table.game
    state, length = played.states[shown.step], len(played)
    movers = [seat for seat in range(len(table.seats)) if game.menu(state, seat)]
    actor = _choose_actor(movers, branch.seat)
    menu = game.menu(state, actor) if movers else ()
    planned = tuple(dict.fromkeys(word for _, move in branch.moves for word in move.split()))  # each word once
    players = list_players(table.names)
    scene = Scene(game, game.view(state, actor), players, me=actor, menu=menu, language=get_language(), planned=planned)
    narrator = Narrator(game, table.names, get_language(), actor, view=scene.view)
    standing = game.standing(state)
    return WhatIfPage(
        link=shown.place.link,
        title=translate_title(game.META),
        game=game.META.name,
        me=branch.seat,
        branch=_make_branch_link(branch),
        dealt=parse_int(request.args.get("dealt", ""), MAX_DEALT),
        lost=len(branch.moves) - length,
        step=shown.step,
        length=length,
        is_over=standing[0].place is not None,  # places are known at the end
        movers=tuple(Mover(seat, table.names[seat], seat == actor) for seat in movers),
        actor=actor,
        actor_name=table.names[actor],
        stage=draw_stage(scene),
        text=draw_board_text(scene),
        alt=narrator.describe_board(scene.view),
        turn=_make_turn(shown, scene, narrator),
        steps=tuple(_list_steps(shown)),
        players=tuple(_list_players(scene, branch.seat, movers, standing)),
        is_playing=table.position.phase == "playing",
        plan=list_branch_steps(shown.place.link, branch, scene.players, narrator, length, shown.step),
        has_own_moves=any(seat == branch.seat for seat, _ in branch.moves[:length]),
        knows_all=branches.knows_all(table, branch.at),
        branches=tuple(map(_make_branch_link, shown.all_branches)),
        error=error,
        has_orders=shown.has_orders,
    )


def _list_players(scene: Scene, me: int, movers: list[int], standing: Sequence[Standing]) -> Iterator[BranchPlayer]:
    """List the players with their scores in a position, in the order of the seats."""
    for seat, stand in enumerate(standing):
        yield BranchPlayer(
            player=scene.players[seat],
            is_you=seat == me,
            is_to_move=seat in movers,
            score=stand.score,
            place=stand.place,
            is_out=bool(stand.out),
        )


def _choose_actor(movers: list[int], me: int) -> int:
    """Return the seat that the page plays for: the one chosen, the reader's own, or the first mover.

    Only a seat that can move is chosen; if none can, it is the reader's own.
    """
    chosen = _parse_number(request.values.get("as", ""), default=me)
    for seat in (chosen, me, *movers):
        if seat in movers:
            return seat
    return me


def _make_turn(shown: ShownBranch, scene: Scene, narrator: Narrator) -> Turn:
    """Return the menu of the shown position; its forms send the step, and the seat that moves."""
    action = url_for("whatif.show", link=shown.place.link, number=shown.branch.id)
    return make_turn(
        scene.menu,
        narrator,
        request.args.get("say", "").split(),
        action=action,
        hidden_fields=(("step", str(shown.step)), ("as", str(scene.me))),
        next_link=f"{action}?step={shown.step}&as={scene.me}&",
        game=shown.table.game.META.name,
    )


def _list_steps(shown: ShownBranch) -> Iterator[BranchStep]:
    """Describe the moves of a branch that are possible, as its player would see them at the table."""
    branch, table = shown.branch, shown.table
    narrator = Narrator(table.game, table.names, get_language(), branch.seat)
    possible = zip(branch.moves, shown.played.events, strict=False)  # the moves after these have no events
    for number, (seat_and_move, events) in enumerate(possible, 1):
        seat, move = seat_and_move
        visible = tuple(log.hear(table.game, event, branch.seat) for event in events)
        sentences = (narrator.describe(event) for event in visible if event is not None)
        yield BranchStep(
            number=number,
            who=table.names[seat],
            move=move,
            sentences=tuple(filter(None, sentences)),
            secret=visible != events,
        )


def _parse_step() -> int:
    """Return the step that the form names; if it names none, more than a branch has, which means the last one."""
    return _parse_number(request.form.get("step", ""), default=branches.MAX_MOVES)


def _parse_number(text: str, default: int) -> int:
    """Parse a number of an address or a form; return `default` if it is none."""
    number = parse_int(text, MAX_ENTRY)
    return default if number is None else number
