"""Bodies of letters about a table: one function for each kind of letter."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from engine import log
from engine.record import Request, UndoRequest
from engine.table_events import PauseAsked
from service.numbers import parse_int
from service.tables import joining
from service.text.drawing import list_players
from service.text.languages import describe_changes, describe_game, write_deadline
from service.timing import parse_calendar
from workers.outgoing import suggestions
from workers.outgoing.game_review import build_review
from workers.outgoing.letter import Body, Invitation, OfferedSeat
from workers.outgoing.letter_parts import (
    TableDraft,
    list_language_links,
    narrate,
)
from workers.outgoing.suggestions import Answers


def write_invitation(draft: TableDraft) -> Body:
    """Invite the reader to a seat, or tell the organiser that the table is open."""
    _, snapshot = draft.translator.gettext, draft.snapshot
    names = draft.translator.join(player.name or _("a free seat") for player in list_players(snapshot.names))
    has_started = draft.scene is not None
    asks_to_sit = draft.seat.status == "invited" and not has_started
    meta = snapshot.game.META
    organiser = draft.organiser  # empty if that is the reader
    if organiser:
        headline = _("%(who)s invites you to a game of %(title)s.", who=organiser, title=draft.title)
    else:
        headline = _("%(who)s, you have opened a table of %(title)s.", who=draft.seat.name, title=draft.title)
    return Body(
        headline=headline,
        shows_title=False,
        invitation=Invitation(
            about=describe_game(draft.request.language, meta, snapshot.position.options),
            players=_("At the table: %(names)s.", names=names),
            changes=describe_changes(draft.translator, meta, snapshot.position.options),
            clock=snapshot.clock,
            has_beacon=snapshot.position.beacon is not None,
            welcome=write_welcome(draft),
            asks_to_sit=asks_to_sit,
        ),
        languages=list_language_links(draft),
        answers=_build_answers(draft),
        button=_("Sit down") if asks_to_sit else _("Look at the table"),
    )


def _build_answers(draft: TableDraft) -> Answers | None:
    """Return the moves that the reader can answer this letter with."""
    return suggestions.build_answers(draft.menu, draft.writer, draft.narrator)


def write_welcome(draft: TableDraft) -> str:
    """Return how a player plays by letter."""
    return draft.translator.gettext(
        "You need no account: the link below is your seat. You play from this mailbox, whenever you have a moment; each"
        " time it is your turn a letter like this one comes."
    )


def write_seat(draft: TableDraft) -> Body:
    """Tell a substitute how to play on."""
    _ = draft.translator.gettext
    return Body(
        headline=_("%(name)s, you play on at this table of %(title)s.", name=draft.seat.name, title=draft.title),
        explanation=write_welcome(draft),
        languages=list_language_links(draft),
        answers=_build_answers(draft),
        button=_("Look at the table"),
    )


def write_rehoused(draft: TableDraft) -> Body:
    """Give a player the new link of a table that comes from another server."""
    _ = draft.translator.gettext
    return Body(
        headline=_(
            "%(name)s, your game of %(title)s has moved to this server. Here is your new link; nothing else has"
            " changed.",
            name=draft.seat.name,
            title=draft.title,
        ),
        answers=_build_answers(draft),
        button=write_move_button(draft),
    )


def write_turn(draft: TableDraft) -> Body:
    """Ask for a move: for the first time, again before the deadline, or after a pause."""
    return write_any_turn(draft, write_headline(draft))


def write_headline(draft: TableDraft) -> str:
    """Return the first sentence of a letter, which is also what other channels say.

    For frequent kinds, and for the end of a game, it is made without the rest of the letter.
    """
    _, name = draft.translator.gettext, draft.seat.name
    match draft.kind:
        case "turn" | "digest":
            return _("%(name)s, it is your turn.", name=name)
        case "reminder":
            return _("%(name)s, the table is still waiting for your move.", name=name)
        case "resumed":
            return _("%(name)s, the pause is over, and it is your turn.", name=name)
        case "over":
            return _("The game of %(title)s is over.", title=draft.title)
    return WRITERS[draft.kind](draft).headline


def write_any_turn(draft: TableDraft, headline: str) -> Body:
    """Return a letter that asks for a move, with the deadline and the moves."""
    calendar = parse_calendar(draft.request.calendar)
    return Body(
        headline=headline,
        deadline=write_deadline(draft.translator, draft.seat.due_at, draft.app.now(), calendar),
        answers=_build_answers(draft),
        button=write_move_button(draft),
    )


def write_move_button(draft: TableDraft) -> str:
    return draft.translator.gettext("Make your move" if draft.menu else "Look at the table")


def write_asked(draft: TableDraft) -> Body:
    """Ask whether another player may take moves back."""
    _, undo = draft.translator.gettext, draft.snapshot.position.undo_request
    entries = draft.entries[undo.to : draft.snapshot.position.length] if undo else []
    headline = _("%(who)s would like to take a move back. Do you agree?", who=name_requester(draft, undo))
    undone = narrate(draft, (entry for entry in entries if log.find_mover(entry) is not None))
    return replace(write_any_question(draft, headline), undone=undone)


def write_any_question(draft: TableDraft, headline: str) -> Body:
    """Return a letter that asks whether the reader agrees to what another player would like."""
    _ = draft.translator.gettext
    return Body(
        headline=headline,
        question=_("Answer this letter with one word, yes or no."),
        replies=(_("yes"), _("no")),
        answers=_build_answers(draft),
        button=_("Answer"),
    )


def write_pausing(draft: TableDraft) -> Body:
    """Ask whether the game may pause."""
    headline = draft.translator.gettext(
        "%(who)s would like to pause the game: no clock runs until a player ends the pause. Do you agree?",
        who=name_requester(draft, draft.snapshot.position.pause_request),
    )
    return write_any_question(draft, headline)


def write_sealing(draft: TableDraft) -> Body:
    """Ask whether the game may go on without the public beacon."""
    headline = draft.translator.gettext(
        "%(who)s would like to go on without the public beacon, which does not come: from then on the dice follow"
        " from the seal alone. Do you agree?",
        who=name_requester(draft, draft.snapshot.position.seal_request),
    )
    return write_any_question(draft, headline)


def name_requester(draft: TableDraft, request: UndoRequest | Request | None) -> str:
    """Return the name of the player whose request the letter is about; empty if the request is gone."""
    return draft.snapshot.names[request.seat] if request else ""


def write_paused(draft: TableDraft) -> Body:
    """Tell that the game pauses, and how to end that."""
    _ = draft.translator.gettext
    events = [event for entry in draft.entries for event in entry.events]
    askers = [event.seat for event in events if isinstance(event, PauseAsked)]
    return Body(
        headline=_(
            "%(who)s asked for a pause, and the table pauses; no clock runs until a player ends it.",
            who=draft.snapshot.names[askers[-1]] if askers else "",  # earlier ones asked for earlier pauses
        ),
        question=_("To go on, answer this letter with one word: resume"),
        replies=(draft.writer.write_verb("resume"),),
        answers=_build_answers(draft),
        button=_("Look at the table"),
    )


def write_unlit(draft: TableDraft) -> Body:
    """Tell that the public beacon is late, and how to go on without it."""
    _ = draft.translator.gettext
    return Body(
        headline=_(
            "The public beacon that the dice of this table come from cannot be reached. The table waits, and no clock"
            " runs."
        ),
        question=_("To go on without it, answer with one word: sealed. All players have to agree."),
        replies=(draft.writer.write_verb("sealed"),),
        answers=_build_answers(draft),
        button=write_move_button(draft),
    )


def write_accepted(draft: TableDraft) -> Body:
    """Report on a mail that was understood."""
    _, name = draft.translator.gettext, draft.seat.name
    if not draft.has_moved and draft.menu:
        headline = _("%(name)s, your answer has been read, and it is your turn.", name=name)
    elif not draft.has_moved:
        headline = _("%(name)s, your answer has been read.", name=name)
    elif draft.menu:
        headline = _("%(name)s, your answer has been played, and it is still your turn.", name=name)
    else:
        headline = _("%(name)s, your answer has been played.", name=name)
    return replace(write_any_turn(draft, headline), report=draft.report)


def write_refused(draft: TableDraft) -> Body:
    """Report on a mail of which at least a part was refused."""
    _, name = draft.translator.gettext, draft.seat.name
    if draft.has_played:
        headline = _("%(name)s, only a part of your answer could be played.", name=name)
    else:
        headline = _("%(name)s, your answer did not count as a move.", name=name)
    return replace(write_any_turn(draft, headline), report=draft.report)


def write_stranger(draft: TableDraft) -> Body:
    """Tell that a mail from an address that is not the player's was not read."""
    _ = draft.translator.gettext
    return Body(
        headline=_("%(name)s, a mail from another address was not read.", name=draft.seat.name),
        button=_("Look at the table"),
    )


def write_timeout(draft: TableDraft) -> Body:
    """Tell that a bot has made the reader's move."""
    return Body(
        headline=draft.translator.gettext(
            "%(name)s, your time ran out; a bot made this move for you. You play on as before.", name=draft.seat.name
        ),
        answers=_build_answers(draft),
        button=write_move_button(draft),
    )


def write_relieved(draft: TableDraft) -> Body:
    """Tell that a bot plays in the reader's seat until the reader comes back."""
    _ = draft.translator.gettext
    return Body(
        headline=_("%(name)s, your time ran out; a bot plays for you until you come back.", name=draft.seat.name),
        button=_("Come back"),
    )


def write_forfeited(draft: TableDraft) -> Body:
    """Tell that the reader has lost the seat."""
    _ = draft.translator.gettext
    return Body(
        headline=_(
            "%(name)s, your time ran out, and with it your seat, as this table had agreed; a bot plays on.",
            name=draft.seat.name,
        ),
        button=_("Look at the table"),
    )


def write_offered(draft: TableDraft) -> Body:
    """Tell that a substitute may take the reader's seat."""
    _ = draft.translator.gettext
    return Body(
        headline=_(
            "%(name)s, your seat is offered to a substitute. Until it is taken you may come back.",
            name=draft.seat.name,
        ),
        button=_("Come back"),
    )


def write_offer(draft: TableDraft) -> Body:
    """Give the reader links to pass on, by which substitutes take the free seats."""
    _, snapshot, app = draft.translator.gettext, draft.snapshot, draft.app
    return Body(
        headline=_("A seat at your table of %(title)s is free.", title=draft.title),
        offers=tuple(
            OfferedSeat(
                text=_("Anyone with this link can play on as %(name)s; send it to a friend:", name=seat.name),
                link=f"{app.settings.address}/offer/{joining.make_offer_token(app, seat)}",
            )
            for seat in snapshot.seats
            if snapshot.position.seats[seat.seat].offered
        ),
        button=_("Look at the table"),
    )


def write_declined(draft: TableDraft) -> Body:
    """Tell the organiser that an invited player does not come."""
    _ = draft.translator.gettext
    return Body(
        headline=_("A seat at your table of %(title)s is free again.", title=draft.title),
        button=_("Look at the table"),
    )


def write_talk(draft: TableDraft) -> Body:
    """Tell who wrote, each player once; what they wrote is in the section of the table, as in any other letter."""
    speakers = draft.translator.join(dict.fromkeys(remark.name for remark in draft.remarks))
    return Body(
        headline=draft.translator.gettext("News from your table: %(who)s wrote.", who=speakers),
        button=draft.translator.gettext("Look at the table"),
    )


def write_unreachable(draft: TableDraft) -> Body:
    """Tell that letters to another player come back."""
    _ = draft.translator.gettext
    seat = parse_int(draft.request.kind_detail, len(draft.snapshot.seats) - 1)
    name = "" if seat is None else draft.snapshot.names[seat]
    has_started = draft.scene is not None
    if has_started:
        explanation = _(
            "The address at this table takes no letters, so nothing is sent to it any more. If you know %(who)s, please"
            " pass it on: the link in any earlier letter still leads to the table, and a mail from that address to the"
            " table lets letters leave again.",
            who=name,
        )
    else:
        explanation = _(
            "The address at this table takes no letters, so nothing is sent to it any more, and %(who)s may not know of"
            " the invitation. If the address was mistyped, open a new table with the right one.",
            who=name,
        )
    return Body(
        headline=_("Letters to %(who)s come back.", who=name),
        explanation=explanation,
        button=_("Look at the table"),
    )


def write_over(draft: TableDraft) -> Body:
    """Tell the result and look back at the game."""
    _ = draft.translator.gettext
    return Body(
        headline=write_headline(draft),
        shows_title=False,
        question=_("Another game with the same players and rules? Answer with one word: again"),
        replies=(draft.writer.write_verb("again"),),
        review=build_review(draft),
        button=_("Play again"),
    )


WRITERS: dict[str, Callable[[TableDraft], Body]] = {
    "invitation": write_invitation,
    "seat": write_seat,
    "rehoused": write_rehoused,
    "turn": write_turn,
    "digest": write_turn,
    "reminder": write_turn,
    "resumed": write_turn,
    "asked": write_asked,
    "pausing": write_pausing,
    "paused": write_paused,
    "sealing": write_sealing,
    "unlit": write_unlit,
    "accepted": write_accepted,
    "refused": write_refused,
    "stranger": write_stranger,
    "timeout": write_timeout,
    "relieved": write_relieved,
    "forfeited": write_forfeited,
    "offered": write_offered,
    "offer": write_offer,
    "declined": write_declined,
    "talk": write_talk,
    "unreachable": write_unreachable,
    "over": write_over,
}
