"""Finished and running games to look back at: the replay, logs to download and check, and the gallery."""

from __future__ import annotations

import functools
from typing import Any

import msgspec
from flask import Blueprint, Response, make_response, redirect, request, url_for
from markupsafe import Markup
from msgspec import Struct
from sqlalchemy import Connection
from werkzeug.wrappers import Response as BaseResponse

from service.numbers import MAX_ENTRY, parse_int
from service.tables import access, snapshots
from service.tables.access import Place
from service.tables.history import game_story, replays
from service.tables.history.game_story import ChanceHistory
from service.tables.history.replays import Frame, Viewpoint
from service.tables.snapshots import Snapshot
from service.text.drawing import Player, Scene, draw_board_svg, list_players
from service.web import previews
from service.web.current_request import find_picture_language, get_app, get_language
from service.web.previews import Preview
from service.web.rendering import from_replica, join_names, render, translate_title
from service.web.result_view import StoryInWords, load_story

replay = Blueprint("replay", __name__, url_prefix="/t/<link>")
verify = Blueprint("verify", __name__, url_prefix="/verify")
gallery = Blueprint("gallery", __name__, url_prefix="/gallery")
MAX_PAGE = 99_999  # number of a page of the gallery


class ReplayPlayer(Struct, frozen=True):
    """A player beside the board, with the score at that time."""

    player: Player
    is_you: bool
    is_out: bool
    score: int


class ReplayPage(Struct, frozen=True):
    """Everything `replay.html` and, for a script, `replay_position.html` show: one position of a game."""

    link: str
    me: int | None
    title: str
    phase: str
    viewer: int | None  # the seat whose view is shown; None is a spectator
    query: dict[str, Any]  # what every link of this replay carries on
    since_own_move: bool  # whether the replay begins after the reader's last move
    players: tuple[ReplayPlayer, ...]
    frame: Frame
    board: Markup
    chances: ChanceHistory | None
    story: StoryInWords | None
    preview: Preview | None


class GalleryGame(Struct, frozen=True):
    """A finished game in the gallery: who played it, and which places they got."""

    table: str
    title: str
    ended_at: int
    length: int
    ranks: tuple[tuple[int, Player], ...]  # each place with its player, the winner first

    @property
    def names(self) -> str:
        return join_names(player.name for _, player in self.ranks)


class GalleryPage(Struct, frozen=True):
    """Everything `gallery.html` shows."""

    games: tuple[GalleryGame, ...]
    number: int  # of this page
    has_more: bool


class VerifyPage(Struct, frozen=True):
    """The page `verify.html`, which always says the same; the browser does the rest."""


# The replay


@replay.get("/replay")
@from_replica
def show(link: str, *, replica: bool) -> Response:
    """Show the game after any entry as this seat saw it then; once the game is over, as any seat saw it."""
    app = get_app()
    with app.store.reading(replica=replica) as db:
        place = access.find_place(db, link)
        table = snapshots.load_table(app, db, place.table)
        page = _load_page(db, place, table, load_story(db, table))
    return render("replay.html", page)


@replay.get("/replay/frame")
@from_replica
def show_frame(link: str, *, replica: bool) -> Response:
    """Show the position after any entry without the page around it, for a script that steps quickly."""
    app = get_app()
    with app.store.reading(replica=replica) as db:
        place = access.find_place(db, link)
        page = _load_page(db, place, snapshots.load_table(app, db, place.table))
    return render("replay_position.html", page)


@replay.post("/replay/story")
def ask_for_story(link: str) -> BaseResponse:
    """Ask where the game turned; a bot goes through the game, and the page shows the result when it is ready."""
    app = get_app()
    with access.writing_at(app, link) as (db, place):
        game_story.request_story(app, db, place)
    app.wakeups.wake("bots")
    return redirect(url_for("replay.show", link=link, _anchor="story"), 303)


def _load_page(db: Connection, place: Place, table: Snapshot, story: StoryInWords | None = None) -> ReplayPage:
    """Load the game as it was after the entry that the address names, for the viewer that it names.

    The `story` is only on the whole page; None if the game has none, and for the position alone.
    """
    viewer, since = _find_viewer(place, table), _parse_entry_argument("since")
    viewpoint = Viewpoint(viewer, get_language())
    frame = replays.load_frame(get_app(), db, table, viewpoint, _parse_entry_argument("at"), since)
    players, query = list_players(table.names), dict[str, Any]()
    if viewer != place.seat:
        query["as"] = "all" if viewer is None else viewer
    if since is not None:
        query["since"] = frame.first  # not the entry in the address, which may be outside of the game
    # `frame.since` is the first entry after the last move of the viewer, whom the reader may have chosen.
    begins_after_viewers_move = since is not None and frame.first == frame.since
    return ReplayPage(
        link=place.link,
        me=place.seat,
        title=translate_title(table.game.META),
        phase=table.position.phase,
        viewer=viewer,
        query=query,
        since_own_move=begins_after_viewers_move and viewer == place.seat,
        players=tuple(
            ReplayPlayer(players[seat], is_you=seat == place.seat, is_out=stand.out, score=stand.score)
            for seat, stand in enumerate(frame.standing)
        ),
        frame=frame,
        board=Markup(frame.board.svg),  # noqa: S704 - our own template, which escapes what goes in
        chances=game_story.load_chances(get_app(), db, table, frame.at),
        story=story,
        preview=previews.describe_table(place, table, frame.at),
    )


def _find_viewer(place: Place, table: Snapshot) -> int | None:
    """Return the seat whose view is shown: the reader's own, or after the end any seat; None is a spectator's view."""
    if table.position.phase != "over":
        return place.seat
    chosen = request.args.get("as", "")
    seat = parse_int(chosen, len(table.seats) - 1)
    if seat is not None:
        return seat
    return None if chosen == "all" else place.seat


def _parse_entry_argument(name: str) -> int | None:
    """Return the number of an entry that the address gives, or None."""
    return parse_int(request.args.get(name, ""), MAX_ENTRY)


# Logs


@replay.get("/log.json")
@from_replica
def send_log(link: str, *, replica: bool) -> Response:
    """Send the log as this seat may have it."""
    with get_app().store.reading(replica=replica) as db:
        export = replays.export_for_place(db, access.find_place(db, link))
    encoded = msgspec.json.format(msgspec.json.encode(export), indent=1)
    return _send_file(encoded, "application/json", f"{export.game}-{export.table}.json")


@replay.get("/log.txt")
@from_replica
def send_text(link: str, *, replica: bool) -> Response:
    """Send the game in words, as this seat may have it."""
    app = get_app()
    with app.store.reading(replica=replica) as db:
        place = access.find_place(db, link)
        table = snapshots.load_table(app, db, place.table)
        text = replays.write_transcript(db, table, Viewpoint(place.seat, get_language()))
    name = f"{table.row.game}-{table.row.id}.txt"
    return _send_file(text.encode(), "text/plain; charset=utf-8", name, disposition="inline")


def _send_file(content: bytes, kind: str, name: str, disposition: str = "attachment") -> Response:
    """Send a file to store under this name, or with the disposition `inline` to show."""
    response = make_response(content)
    response.headers["Content-Type"] = kind
    response.headers["Content-Disposition"] = f'{disposition}; filename="{name}"'
    response.headers["Cache-Control"] = "no-store"
    return response


@verify.get("")
def show_verifier() -> Response:
    """Show the page that checks a log; the browser does all of it, and sends nothing."""
    return render("verify.html", VerifyPage())


# The gallery


@gallery.get("")
@from_replica
def show_gallery(*, replica: bool) -> Response:
    """Show the finished games, page by page, those that ended last first."""
    number = parse_int(request.args.get("page", ""), MAX_PAGE) or 1  # the first page is 1
    app = get_app()
    with app.store.reading(replica=replica) as db:
        ids, has_more = access.list_gallery_tables(db, number - 1)
        games = tuple(_make_gallery_game(snapshots.load_table(app, db, one)) for one in ids)
    return render("gallery.html", GalleryPage(games, number, has_more))


@gallery.get("/<table>")
def open_replay(table: str) -> BaseResponse:
    """Go to the replay of a game by a link that everybody may know; raise Unknown if the gallery does not show it."""
    link = access.make_gallery_link(table)
    access.find(get_app(), link)  # raises Unknown for a game that is not shown
    return redirect(url_for("replay.show", link=link))


@gallery.get("/<table>.svg")
@from_replica
def send_board(table: str, *, replica: bool) -> Response:
    """Send a picture of the board at the end of a game."""
    with get_app().store.reading(replica=replica) as db:
        access.find_place(db, access.make_gallery_link(table))  # raises Unknown for a game that is not shown
        names = snapshots.load_table(get_app(), db, table).names
    response = make_response(_draw_end(table, names, find_picture_language(), replica))
    response.headers["Content-Type"] = "image/svg+xml"
    response.headers["Cache-Control"] = "private, max-age=3600"
    return response


@functools.lru_cache(maxsize=200)
def _draw_end(table_id: str, names: tuple[str, ...], in_language: str, replica: bool) -> str:
    """Draw the last position of a game as spectators see it; draw it again if players have changed their `names`."""
    with get_app().store.reading(replica=replica) as db:
        table = snapshots.load_table(get_app(), db, table_id)
    view = table.game.view(table.position.state, None)
    return draw_board_svg(Scene(table.game, view, list_players(names), language=in_language))


def _make_gallery_game(table: Snapshot) -> GalleryGame:
    """Describe a finished game; its players come in the order of their places."""
    seated = list_players(table.names)
    ranks = sorted((place, seat) for seat, place in enumerate(table.position.places))
    return GalleryGame(
        table=table.row.id,
        title=translate_title(table.game.META),
        ended_at=table.row.ended_at or 0,
        length=table.row.length,
        ranks=tuple((place, seated[seat]) for place, seat in ranks),
    )
