"""What if: a private copy of the table on which a player tries out how it could go on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flask import Blueprint, Response, redirect, request, url_for
from msgspec import Struct
from werkzeug.wrappers import Response as Reply

from engine import record
from engine.refusal import Refused
from service import numbers
from service.plans import branch_orders, branches
from service.plans.branches import Branch, PlayedBranch
from service.tables import access, snapshots
from service.tables.access import Place, Unknown
from service.tables.snapshots import Snapshot
from service.text.drawing import Scene, Voice, board_text, players, stage
from service.web import menu_forms
from service.web.rendering import get_app, language, page
from service.web.seat_pages import heading

whatif = Blueprint("whatif", __name__, url_prefix="/t/<link>/whatif")


class BranchStep(Struct, frozen=True):
    """One move of a branch as the page tells it; at the table this seat would not hear all of a `secret` one."""

    number: int
    seat: int
    move: str
    sentences: tuple[str, ...]
    secret: bool


@whatif.get("")
def every(link: str) -> Response:
    """All branches of this seat, and a button that begins another one."""
    place = access.find(get_app(), link)
    look = snapshots.look(get_app(), place.table)
    own, last = branches.of(get_app(), place), look.row.length - 1
    at = min(_whole(request.args.get("at", ""), last), last)
    return page("branches.html", **heading(place, look), branches=own, at=at, last=last)


@whatif.post("")
def begin(link: str) -> Reply:
    """A branch that begins with the position after some entry."""
    app = get_app()
    place = access.find(app, link)
    number = branches.begin(
        app, place, _whole(request.form.get("at", ""), snapshots.look(app, place.table).row.length - 1)
    )
    return redirect(url_for("whatif.show", link=link, number=number), 303)


@whatif.get("/<int:number>")
def show(link: str, number: int) -> Response:
    """A branch after some of its moves."""
    return _page(access.find(get_app(), link), number)


@whatif.post("/<int:number>")
def play(link: str, number: int) -> Reply:
    """Make a move in the branch, for any seat."""
    app, form = get_app(), request.form
    place = access.find(app, link)
    text = " ".join(" ".join(word.split()) for name in ("move", "verb", "arg") for word in form.getlist(name))
    step, seat = _whole(form.get("step", ""), branches.LONGEST), _whole(form.get("as", ""), 0)
    try:
        number, step = branches.play(app, place, number, step, seat, text)
    except Unknown:
        raise
    except Refused as refused:
        return _page(place, number, refused, 422)
    return redirect(url_for("whatif.show", link=link, number=number, step=step), 303)


@whatif.post("/<int:number>/cut")
def cut(link: str, number: int) -> Reply:
    """Take moves back."""
    branches.cut(get_app(), access.find(get_app(), link), number, _step())
    return redirect(url_for("whatif.show", link=link, number=number), 303)


@whatif.post("/<int:number>/fork")
def fork(link: str, number: int) -> Reply:
    """Go on in another branch, and leave this one as it is."""
    other = branches.fork(get_app(), access.find(get_app(), link), number, _step())
    return redirect(url_for("whatif.show", link=link, number=other), 303)


@whatif.post("/<int:number>/deal")
def deal(link: str, number: int) -> Reply:
    """Deal what is hidden anew, with other luck."""
    lost = branches.deal(get_app(), access.find(get_app(), link), number)
    return redirect(url_for("whatif.show", link=link, number=number, dealt=lost), 303)


@whatif.post("/<int:number>/name")
def rename(link: str, number: int) -> Reply:
    """Keep a branch under a name."""
    branches.rename(get_app(), access.find(get_app(), link), number, request.form.get("name", ""))
    return redirect(url_for("whatif.show", link=link, number=number), 303)


@whatif.post("/<int:number>/delete")
def remove(link: str, number: int) -> Reply:
    """Forget a branch."""
    branches.remove(get_app(), access.find(get_app(), link), number)
    return redirect(url_for("whatif.every", link=link), 303)


@whatif.post("/<int:number>/orders")
def keep(link: str, number: int) -> Reply:
    """Make the own moves of a branch standing orders."""
    branch_orders.keep(get_app(), access.find(get_app(), link), number)
    return redirect(url_for("table.show", link=link, _anchor="orders"), 303)


@whatif.post("/<int:number>/forget")
def forget(link: str, number: int) -> Reply:
    """Drop the orders of a branch."""
    branch_orders.forget(get_app(), access.find(get_app(), link), number)
    return redirect(url_for("table.show", link=link, _anchor="orders"), 303)


def _page(place: Place, number: int, error: Refused | None = None, status: int = 200) -> Response:
    app = get_app()
    look, branch = snapshots.look(app, place.table), branches.find(app, place, number)
    line = branches.line(app, look, branch)
    step = min(_whole(request.values.get("step", ""), len(line)), len(line))
    state = line.states[step]
    waiting = [seat for seat in range(len(look.seats)) if look.game.menu(state, seat)]
    actor = _actor(waiting, branch.seat)
    scene = Scene(
        look.game,
        look.game.view(state, actor),
        players(look.names),
        actor,
        look.game.menu(state, actor) if waiting else (),
        language(),
    )
    voice = Voice(look.game, look.names, language(), actor, view=scene.view)
    say = request.args.get("say", "").split()
    return page(
        "whatif.html",
        status,
        **heading(place, look),
        **_drawn(scene, voice, say),
        error=error,
        branch=branch,
        branches=branches.of(app, place),
        at_step=step,
        length=len(line),
        lost=len(branch.moves) - len(line),
        dealt=request.args.get("dealt", ""),
        open=branches.knows_all(look, branch.at),
        waiting=waiting,
        actor=actor,
        standing=look.game.standing(state),
        steps=list(_steps(look, branch, line)),
        intention=next((one for one in branch_orders.intentions(app, place) if one.number == number), None),
    )


def _actor(waiting: list[int], me: int) -> int:
    """The seat that the page plays for: as chosen, else one's own, else the one to move."""
    chosen = _whole(request.values.get("as", ""), me)
    return chosen if chosen in waiting else me if me in waiting or not waiting else waiting[0]


def _drawn(scene: Scene, voice: Voice, say: list[str]) -> dict[str, Any]:
    """The board, and the moves in every form in which they can be chosen."""
    return {
        "stage": stage(scene),
        "text": board_text(scene),
        "alt": voice.alt(scene.view),
        "offers": menu_forms.offers(scene.menu, voice, say),
        "menu": menu_forms.as_data(scene.menu),
        "labels": menu_forms.labels(scene.menu, voice),
        "saying": say,
    }


def _steps(look: Snapshot, branch: Branch, line: PlayedBranch) -> Iterator[BranchStep]:
    """The moves so far, told as this seat would hear of them."""
    voice = Voice(look.game, look.names, language(), branch.seat)
    for number, ((seat, move), events) in enumerate(zip(branch.moves, line.events, strict=False), 1):
        heard = tuple(record.hear(look.game, event, branch.seat) for event in events)
        told = tuple(sentence for event in heard if event is not None and (sentence := voice.tell(event)))
        yield BranchStep(number, seat, move, told, heard != events)


def _step() -> int:
    return _whole(request.form.get("step", ""), branches.LONGEST)


def _whole(text: str, otherwise: int) -> int:
    number = numbers.read(text, 2**31 - 1)
    return otherwise if number is None else number
