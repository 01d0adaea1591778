"""The replay: step through a game, or take it away as a log or as plain text."""

from __future__ import annotations

from typing import Any

import msgspec
from flask import Blueprint, Response, make_response, redirect, request, url_for
from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace
from werkzeug.wrappers import Response as BaseResponse

from engine.menu import Move
from engine.story import TurningPoint
from service import numbers
from service.tables import access, archive, chance_course, replays, snapshots, stories
from service.tables.access import Place
from service.tables.replays import Frame, Viewpoint
from service.tables.snapshots import Snapshot
from service.text.drawing import Voice, players
from service.text.languages import in_game
from service.web.menu_forms import sentence
from service.web.rendering import get_app, language, page
from service.web.replica import from_replica

replay = Blueprint("replay", __name__, url_prefix="/t/<link>")


@replay.get("/replay")
@from_replica
def show(link: str) -> Response:
    """The game after any entry as this seat saw it then; once the game is over as any seat saw it."""
    place = access.find(get_app(), link)
    look = snapshots.look(get_app(), place.table)
    return page("replay.html", story=_story(look), **_words(place, look))


@replay.get("/replay/frame")
@from_replica
def frame(link: str) -> Response:
    """The same without the page around it, for a script that steps quickly."""
    place = access.find(get_app(), link)
    look = snapshots.look(get_app(), place.table)
    return page("frame.html", **_words(place, look))


@replay.post("/replay/story")
def tell(link: str) -> BaseResponse:
    """Ask where the game turned; the page has it as soon as a bot has gone through the game."""
    stories.ask(get_app(), access.find(get_app(), link))
    return redirect(url_for("replay.show", link=link, _anchor="story"), 303)


@replay.get("/log.json")
@from_replica
def log(link: str) -> Response:
    """The log as this seat may keep it."""
    export = archive.export_for(get_app(), access.find(get_app(), link))
    encoded = msgspec.json.format(msgspec.json.encode(export), indent=1)
    return _file(encoded, "application/json", f"{export.game}-{export.table}.json")


@replay.get("/log.txt")
@from_replica
def protocol(link: str) -> Response:
    """The game in words, as this seat may keep it."""
    place = access.find(get_app(), link)
    look = snapshots.look(get_app(), place.table)
    told = replays.protocol(get_app(), look, Viewpoint(place.seat, language()))
    return _file(told.encode(), "text/plain; charset=utf-8", f"{look.row.game}-{look.row.id}.txt", "inline")


def _file(content: bytes, kind: str, name: str, how: str = "attachment") -> Response:
    response = make_response(content)
    response.headers["Content-Type"] = kind
    response.headers["Content-Disposition"] = f'{how}; filename="{name}"'
    response.headers["Cache-Control"] = "no-store"
    return response


def _words(place: Place, look: Snapshot) -> dict[str, Any]:
    eyes = _eyes(place, look)
    shown = replays.frame(get_app(), look, Viewpoint(eyes, language()), _entry("at"), _entry("since"))
    return {
        "link": place.link,
        "me": place.seat,
        "title": in_game(language(), look.game.META.name, look.game.META.title),
        "phase": look.table.phase,
        "players": players(look.names),
        "eyes": eyes,
        "asked": _asked(place, eyes, shown),
        "frame": shown,
        "course": chance_course.course(get_app(), look, shown.at),
        "svg": Markup(shown.board.svg),  # noqa: S704 - our own template, which escapes what goes in
    }


class StoryInWords(Struct, frozen=True):
    """Where a game turned and whom luck favoured, from when it is told; before that whether somebody has asked."""

    asked: bool
    told: bool = False
    turned: tuple[tuple[str, TurningPoint], ...] = ()
    luck: tuple[tuple[str, int], ...] = ()


def _story(look: Snapshot) -> StoryInWords | None:
    if not stories.is_to_be_told(look):
        return None
    asked = stories.find(get_app(), look)
    if asked is None or asked.told is None:
        return StoryInWords(asked is not None)
    voice = Voice(look.game, look.names, language())
    turned = tuple((look.names[point.seat], _in_words(point, voice)) for point in asked.told.turning_points)
    luck = tuple((name, round(100 * share)) for name, share in zip(look.names, asked.told.luck, strict=False))
    return StoryInWords(True, True, turned, luck)


def _in_words(point: TurningPoint, voice: Voice) -> TurningPoint:
    """The same with its moves as people say them."""
    played, better = (sentence(Move.parse(move), voice) for move in (point.played, point.better))
    return replace(point, played=played, better=better)


def _asked(place: Place, eyes: int | None, shown: Frame) -> dict[str, Any]:
    """What every link of this replay carries on: the seat whose view is shown, and the first entry."""
    kept: dict[str, Any] = {} if eyes == place.seat else {"as": "all" if eyes is None else eyes}
    return kept | ({"since": shown.first} if _entry("since") is not None else {})


def _eyes(place: Place, look: Snapshot) -> int | None:
    """The seat whose view is shown: the reader's own, or after the end any, or all."""
    chosen = request.args.get("as", "")
    if look.table.phase != "over":
        return place.seat
    seat = numbers.read(chosen, len(look.seats) - 1)
    if seat is not None:
        return seat
    return None if chosen == "all" else place.seat


def _entry(name: str) -> int | None:
    """The number of an entry in the address, if there is one that could be."""
    return numbers.read(request.args.get(name, ""), 2**31 - 1)
