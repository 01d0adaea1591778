"""Writes the letters to a seat: as text, as HTML with the board as a picture, all of a table in one thread."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from email.message import EmailMessage
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from engine import record
from engine.log import Entry
from engine.menu import Menu
from engine.story import TurningPoint
from engine.table_events import PauseAsked
from service import numbers, timing
from service.accounts import bounces
from service.app import App
from service.store import queries
from service.tables import access, hints, positions, snapshots, stories, substitutes, talk
from service.tables.snapshots import Snapshot
from service.text import chronicle
from service.text.drawing import Player, Scene, Voice, board_svg, board_text, environment, players
from service.text.languages import LANGUAGES, Said, in_game
from service.timing import Calendar, Clock
from workers import process_pool
from workers.incoming import mail_reports
from workers.incoming.mail_reports import MailReport
from workers.outgoing import answer_hints, curves, envelopes, pictures
from workers.outgoing.answer_hints import Hint, Pen
from workers.outgoing.curves import Curves
from workers.outgoing.envelopes import LetterContent, LetterOrder, Picture

ANSWERS = ("accepted", "refused")
LATEST = 6  # sentences of the reader's own last turn


class LetterContext(Struct, frozen=True):
    """Everything a letter's templates may speak of."""

    kind: str
    me: int
    name: str
    game: str
    title: str
    players: tuple[Player, ...]
    organiser: str
    seats: tuple[Any, ...]
    to_move: tuple[str, ...]
    hints: tuple[Hint, ...]
    example: tuple[str, str]
    commands: tuple[str, ...]
    places: tuple[tuple[int, str], ...]
    score_word: str
    board: str
    alt: str
    due: datetime | None
    left: int
    zone: str
    box: str
    clock: Clock
    public: bool
    link: str
    answer: str
    mark: str
    free: tuple[tuple[str, str], ...]
    replay: str
    said: Said
    receipt: str
    length: int
    seed: str
    started: bool
    preferences: str
    about: str
    undone: tuple[str, ...] = ()
    chapters: tuple[chronicle.Chapter, ...] = ()
    own: tuple[str, ...] = ()
    tongues: tuple[tuple[str, str], ...] = ()
    report: tuple[mail_reports.ToldLine, ...] = ()
    scores: tuple[tuple[str, int], ...] = ()
    talk: tuple[tuple[str, str], ...] = ()
    turned: tuple[tuple[str, TurningPoint], ...] = ()
    luck: tuple[tuple[str, int], ...] = ()
    course: Curves | None = None
    chances: Curves | None = None

    @property
    def rules(self) -> str:
        """Where the rules of this game can be read."""
        return f"{self.link.rpartition('/t/')[0]}/rules/{self.game}"

    def laid(self, move: str) -> str:
        """The page with this move laid out, ready to be confirmed; it says when that turn is over."""
        return f"{self.link}?{urlencode({'say': move, 'turn': self.seats[self.me].open_since or 0})}"

    @property
    def asked_to_sit(self) -> bool:
        """Whether the reader has not sat down yet at a table that has not begun."""
        return self.kind == "invitation" and not self.started and self.seats[self.me].status == "invited"

    @property
    def from_the_start(self) -> bool:
        """Whether everything that happened so far is told, because the reader has not moved yet."""
        return bool(self.chapters) and self.chapters[0].start


def write(app: App, order: LetterOrder) -> EmailMessage | None:
    """The letter as it is right now; None where it has been overtaken and would only confuse."""
    with app.store.reading() as connection:
        look = snapshots.load_table(app, connection, order.table)
        if overtaken(look, order):
            return None
        known = positions.load_entries(connection, look.game, order.table)
        remarks = _talk(connection, look, order.seat)
    if _reachable_again(app, look, order):
        return None
    game, voice = look.game, Voice(look.game, look.names, order.language, order.seat)
    pen = Pen(game, look.names, order.language)
    playing = look.table.phase in ("playing", "over")
    menu = snapshots.open_menu(look.game, look.table, order.seat)
    scene = (
        Scene(game, game.view(look.table.state, order.seat), players(look.names), order.seat, menu, order.language)
        if playing
        else None
    )
    chapters = tuple(chronicle.chapters(game, chronicle.since_own_move(known, order.seat), voice, order.seat))[-60:]
    own = _sentences(look, chronicle.own_last_turn(known, order.seat), voice, order.seat)[-LATEST:]
    sheet = _sheet(app, look, order, voice, pen, scene, menu)
    sheet = replace(sheet, chapters=chapters, own=own, talk=remarks)
    mail, report = _answered(app, order)
    if report:
        told = tuple(
            replace(
                line,
                why=answer_hints.in_words(line.why, pen),
                meant=pen.phrase(line.meant),
                hint=tuple(map(pen.phrase, line.hint)),
            )
            for line in mail_reports.told(app, look, report, voice, order.seat)
        )
        sheet = replace(sheet, report=told, scores=_scores(look) if report.has("status") else sheet.scores)
    return _message(app, order, sheet, scene, mail)


def _about(app: App, look: Snapshot, order: LetterOrder) -> int | None:
    """The seat that a letter speaks of: whose letters come back, or who asked for an undo or a pause."""
    kind, _, seat = order.kind.partition("/")
    match kind:
        case "unreachable":
            return numbers.read(seat, len(look.seats) - 1)
        case "asked":
            return look.table.undo_request.seat if look.table.undo_request else None
        case "pausing":
            return look.table.pause_request.seat if look.table.pause_request else None
        case "sealing":
            return look.table.seal_request.seat if look.table.seal_request else None
        case "paused":
            events = (event for entry in snapshots.entries(app, look)[::-1] for event in entry.events)
            return next((event.seat for event in events if isinstance(event, PauseAsked)), None)
    return None


def _question(app: App, look: Snapshot, order: LetterOrder, voice: Voice) -> dict[str, Any]:
    """Whom the letter speaks of, and what would be taken back."""
    about = _about(app, look, order)
    return {"about": "" if about is None else look.names[about], "undone": _undone(app, look, order, voice)}


def _undone(app: App, look: Snapshot, order: LetterOrder, voice: Voice) -> tuple[str, ...]:
    """The moves that would be taken back, if a player asked for that."""
    if not order.kind.startswith("asked") or look.table.undo_request is None:
        return ()
    entries = snapshots.entries(app, look, look.table.undo_request.to, look.table.length)
    moves = [entry for entry in entries if record.find_mover(entry) is not None]
    return _sentences(look, moves, voice, order.seat)


def _sentences(look: Snapshot, entries: Iterable[Entry[Any]], voice: Voice, seat: int) -> tuple[str, ...]:
    return tuple(line for one in chronicle.chapters(look.game, entries, voice, seat) for line in one.sentences)


def _reachable_again(app: App, look: Snapshot, order: LetterOrder) -> bool:
    about = _about(app, look, order) if order.kind.startswith("unreachable") else None
    return about is not None and about not in bounces.unreachable(app, look.row.id)


def _answered(app: App, order: LetterOrder) -> tuple[str, MailReport | None]:
    """The mail that a letter answers: its own id, and what became of it."""
    kind, _, name = order.kind.partition("/")
    number = numbers.read(name)
    if kind not in ANSWERS or number is None:
        return "", None
    with app.store.reading() as connection:
        found = mail_reports.find(connection, number)
    return (str(found[0].message_id), found[1]) if found else ("", None)


def _scores(look: Snapshot) -> tuple[tuple[str, int], ...]:
    standing = look.game.standing(look.table.state) if look.table.phase in ("playing", "over") else ()
    return tuple((name, own.score) for name, own in zip(look.names, standing, strict=False))


def overtaken(look: Snapshot, order: LetterOrder) -> bool:
    """Whether the moment this letter speaks of has passed."""
    seat = look.seats[order.seat]
    match order.kind.partition("/")[0]:
        case "turn" | "reminder":
            return bool(seat.open_since != order.seq)
        case "asked":
            return look.table.undo_request is None or order.seat not in look.table.undo_request.waiting
        case "pausing":
            return look.table.pause_request is None or order.seat not in look.table.pause_request.waiting
        case "sealing":
            return look.table.seal_request is None or order.seat not in look.table.seal_request.waiting
        case "unlit":
            return look.table.waiting_command is None or look.table.waiting_command.seq != order.seq
        case "paused":
            return not look.table.paused
        case "resumed":
            return look.table.paused or seat.open_since is None
        case "offer":
            return not any(chair.offered for chair in look.table.seats) or look.table.phase == "over"
        case "offered":
            return not look.table.seats[order.seat].offered
        case "relieved":
            return look.table.seats[order.seat].status != "bot"
        case "invitation":
            return look.table.seats[order.seat].status != "empty" and look.table.phase == "over"
    return False


def _sheet(
    app: App, look: Snapshot, order: LetterOrder, voice: Voice, pen: Pen, scene: Scene | None, menu: Menu
) -> LetterContext:
    seat = look.seats[order.seat]
    calendar, box = timing.calendar(order.calendar), look.game.META
    link = f"{app.settings.address}/t/{access.link_of(app, seat)}"
    return LetterContext(
        kind=order.kind.partition("/")[0],
        me=order.seat,
        name=seat.name,
        game=box.name,
        title=in_game(order.language, box.name, box.title),
        players=scene.players if scene else players(look.names),
        organiser=look.names[queries.find_organiser(look.seats) or 0],
        seats=look.seats,
        to_move=tuple(one.name for one in look.seats if one.open_since is not None),
        **_answerable(look, order, voice, pen, menu),
        places=tuple(sorted((place, look.names[number]) for number, place in enumerate(look.table.places))),
        score_word=voice.score_word(),
        board=board_text(scene) if scene else "",
        alt=voice.alt(scene.view) if scene else "",
        **_time(app, seat, calendar),
        box=in_game(order.language, box.name, box.about),
        clock=look.clock,
        public=look.table.beacon is not None,
        link=link,
        answer=access.address_of(app, seat),
        mark=access.mark_of(app, seat),
        free=_free(app, look),
        replay=f"{link}/replay",
        said=Said.read(order.said),
        receipt=look.row.head,
        length=look.row.length,
        seed=look.row.seed.hex() if look.table.phase == "over" else "",
        started=scene is not None,
        preferences=f"{envelopes.preferences_page(app, seat.person or 0)}?table={order.table}",
        tongues=_tongues(app, order, seat.person or 0),
        **_question(app, look, order, voice),
        **_ending(app, look, order, pen),
    )


def _time(app: App, seat: Any, calendar: Calendar) -> dict[str, Any]:
    """Until when the reader may take, in his own time, and how long that is."""
    due = datetime.fromtimestamp(seat.due_at, calendar.timezone) if seat.due_at else None
    left = max(0, seat.due_at - app.now()) if seat.due_at else 0
    return {"due": due, "left": left, "zone": calendar.zone.replace("_", " ")}


def _tongues(app: App, order: LetterOrder, person: int) -> tuple[tuple[str, str], ...]:
    """What the first letter asks who never chose: each language with the page that chooses it."""
    if order.chose or order.kind not in ("invitation", "seat"):
        return ()
    page = f"{envelopes.preferences_page(app, person)}/language"
    return tuple((name, f"{page}?in={code}") for code, name in LANGUAGES.items())


def _ending(app: App, look: Snapshot, order: LetterOrder, pen: Pen) -> dict[str, Any]:
    """The scores; in the last letter also where the game turned and whom luck favoured, unless it was given up."""
    if look.table.phase != "over":
        return {}
    if order.kind != "over" or not stories.is_to_be_told(look):
        return {"scores": _scores(look)}
    told = stories.told(app, look, process_pool.run)
    return {
        "course": curves.of_scores(app, look),
        "chances": curves.of_chances(told),
        "scores": _scores(look),
        "turned": tuple((look.names[point.seat], _in_words(point, pen)) for point in told.turning_points),
        "luck": tuple((name, round(100 * share)) for name, share in zip(look.names, told.luck, strict=False)),
    }


def _in_words(point: TurningPoint, pen: Pen) -> TurningPoint:
    """The same with its moves as the reader would write them."""
    return replace(point, played=pen.phrase(point.played), better=pen.phrase(point.better))


def _answerable(look: Snapshot, order: LetterOrder, voice: Voice, pen: Pen, menu: Menu) -> dict[str, Any]:
    """What the reader can answer, in words of his language."""
    to_server = (*answer_hints.TO_SERVER, *(("hint",) if menu and hints.allowed(look, order.seat) else ()))
    return {
        "hints": answer_hints.of(menu, pen, voice),
        "example": answer_hints.example(menu, pen),
        "commands": answer_hints.commands(look.table, order.seat, pen, to_server),
    }


def _talk(connection: Connection, look: Snapshot, seat: int) -> tuple[tuple[str, str], ...]:
    """What the others said since the last letter; nothing for a player who has not sat down yet."""
    if look.seats[seat].status == "invited":
        return ()
    return tuple((look.names[one.seat], one.text) for one in talk.untold(connection, look.row.id, seat))


def _free(app: App, look: Snapshot) -> tuple[tuple[str, str], ...]:
    """Whose seats are offered, and where to take them."""
    free = [seat for seat in look.seats if look.table.seats[seat.seat].offered]
    return tuple((seat.name, f"{app.settings.address}/offer/{substitutes.link(app, seat)}") for seat in free)


def _message(app: App, order: LetterOrder, sheet: LetterContext, scene: Scene | None, mail: str = "") -> EmailMessage:
    order = replace(order, person=sheet.seats[order.seat].person or 0)
    env = environment(order.language)
    drawings = {} if order.plain else _drawings(sheet, scene)
    cids = {name: f"{order.table}.{order.seq}.{order.seat}.{name}@{app.settings.mail_host}" for name in drawings}
    proof = f".{sheet.mark.rpartition('.')[2]}" if app.settings.answered_at == "subject" else ""
    own, follows = _thread(app, order, mail, proof)
    paper = LetterContent(
        subject=subject(sheet, order.language),
        id=own,
        text=env.get_template("mail/letter.txt").render(sheet=sheet),
        html="" if order.plain else env.get_template("mail/letter.html").render(sheet=sheet, pictures=cids),
        title=sheet.title,
        game=sheet.game,
        follows=follows,
        reply_to=sheet.answer,
        pictures=tuple(Picture(name, cids[name], pictures.png(svg)) for name, svg in drawings.items()),
    )
    return envelopes.message(app, order, paper)


def _drawings(sheet: LetterContext, scene: Scene | None) -> dict[str, str]:
    """What is drawn in the letter, by its name: the board, and in the last one how the scores and chances went."""
    curves_of = {"scores": sheet.course, "chances": sheet.chances}
    board = {"board": board_svg(scene)} if scene else {}
    return board | {name: curve.svg(sheet.players) for name, curve in curves_of.items() if curve}


def subject(sheet: LetterContext, language: str) -> str:
    """The same for every letter of a table, so that mail programs keep them together; but a last call stands out."""
    names = ", ".join(player.name for player in sheet.players if player.name)
    plain = f"{sheet.title}: {names} [{sheet.mark}]"
    if sheet.kind not in ("reminder", "over"):
        return plain
    words: Any = environment(language).get_template("mail/words.txt").make_module({"colon": ":"})
    return f"{' '.join(str(words.urgent(sheet)).split())} {plain}"


def _thread(app: App, order: LetterOrder, mail: str, proof: str = "") -> tuple[str, tuple[str, ...]]:
    """A letter's id, and what it follows. The id derives from what it is about: sent twice it is recognisable.

    All letters follow the first, and one that answers a mail follows that mail. Where the address that answers go to
    does not tell the seat, the ids prove it.
    """
    host = f"{proof}@{app.settings.mail_host}"
    root = f"<{order.table}.{order.seat}.table{host}>"
    if order.kind == "invitation":
        return root, ()
    own = f"<{order.table}.{order.seq}.{order.seat}.{order.kind.replace('/', '.')}{host}>"
    return own, (root, mail) if mail else (root,)
