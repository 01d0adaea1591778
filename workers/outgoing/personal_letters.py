"""Letters to a person about no single seat: the link to sign in, the question for an address, news of channels."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from email.message import EmailMessage
from typing import NamedTuple

from sqlalchemy import Connection, select

from engine import catalogue
from service.app import App
from service.notify import channels, followers, webhooks
from service.numbers import parse_int
from service.people import proof, register
from service.people.proof import SeatClaim
from service.store import queries
from service.store.rows import FollowerRow
from service.store.schema import followers as follower_table
from service.store.schema import people
from service.tables import access, snapshots
from service.text.languages import Translator, format_moment, translate_in_game
from service.text.templates import get_environment
from workers.outgoing import digest, emails
from workers.outgoing.emails import LetterContent
from workers.outgoing.letter import DigestTurn, LetterRequest, PersonalLetter
from workers.outgoing.letter_parts import PersonalDraft
from workers.outgoing.owed import find_kind

MAX_HTML_BYTES = 80_000  # before styles are written into it; Gmail cuts off letters of more than 100 kB


def write(app: App, request: LetterRequest) -> EmailMessage | None:
    """Write a letter to a person as of now; None if it would come too late."""
    letter = compose(app, request)
    return build_message(app, request, letter) if letter is not None else None


def compose(app: App, request: LetterRequest) -> PersonalLetter | None:
    """Return the content of a letter to a person as of now; None if it would come too late."""
    with app.store.reading() as db:
        person = db.execute(select(people).where(people.c.id == request.person)).one()
    return WRITERS[request.kind_name](PersonalDraft(app, request, person, Translator(request.language)))


def write_enter(draft: PersonalDraft) -> PersonalLetter | None:
    """Write the letter with the link to sign in; None if the link is no longer good."""
    app, person, _ = draft.app, draft.person, draft.translator.gettext
    requested_at = int(draft.request.kind_detail)
    until = requested_at + proof.SIGN_IN_AGE_S
    if app.now() >= until:
        return None
    return PersonalLetter(
        subject=_("Your link to sign in"),
        headline=_("%(name)s, here is your link to sign in.", name=person.name),
        text=_(
            "It leads to all your tables, and is good until %(until)s (%(zone)s): an hour from when it was asked for."
            " Anyone with this link can sign in as you, so keep it to yourself.",
            until=format_moment(draft.request.language, datetime.fromtimestamp(until, draft.calendar.timezone)),
            zone=draft.calendar.zone.replace("_", " "),
        ),
        button=_("Sign in"),
        link=f"{app.settings.address}/enter/{app.links.make_sign_in_token(person.id, person.sessions, requested_at)}",
        reason=_(
            "This address was entered on our sign-in page. If that was not you, ignore this letter: without the link"
            " there is no way in."
        ),
    )


def write_confirm(draft: PersonalDraft) -> PersonalLetter | None:
    """Ask whether the reader plays at this table, and at others that wait; None if this one waits no more."""
    app, person, _ = draft.app, draft.person, draft.translator.gettext
    with app.store.reading() as db:
        claims = proof.list_claims(db, person.id)
    at_table = [claim for claim in claims if claim.table == draft.request.kind_detail]
    others = [claim for claim in claims if claim.table != draft.request.kind_detail]
    if not at_table:
        return None
    link = f"{app.settings.address}/confirm/{app.links.make_confirm_token(person.id, person.address)}"
    return PersonalLetter(
        title=name_game(draft, at_table[0].game),
        subject=_("Please confirm your address"),
        headline=_("%(name)s, is this your address?", name=person.name),
        text=write_confirm_text(draft, at_table[0]),
        button=_("Answer on this page"),
        turns=tuple(DigestTurn(describe_claim(draft, claim), link) for claim in (*at_table, *others)),
        reason=_(
            "This address was entered at a table of Depesche. If that was not you, ignore this letter, or say no on"
            " that page: no more letters will come."
        ),
    )


def name_game(draft: PersonalDraft, game: str) -> str:
    """Return the title of a game; its name if it is not installed."""
    games = catalogue.find_all()
    title = games[game].META.title if game in games else game
    return translate_in_game(draft.request.language, game, title)


def write_confirm_text(draft: PersonalDraft, claim: SeatClaim) -> str:
    """Return what happens once the reader agrees: letters come, invitations leave, or the game can begin."""
    _ = draft.translator.gettext
    if claim.plays_already:
        return _(
            "You already have a seat at this table, and another seat was taken with your address. If that was not you,"
            " say no; say yes only if you want to play both seats."
        )
    if not claim.opened:
        return _("If you sat down there, say yes, and the letters of that table come to you; until then none does.")
    if claim.others:
        return _("If you opened it, say yes and we send the invitations. Until then we write to no one.")
    return _("If you opened it, say yes, and your letters come here.")


def describe_claim(draft: PersonalDraft, claim: SeatClaim) -> str:
    """Return the game, the other players, the organiser, and the date.

    A stranger may have typed the names: if a name may be a link or an address, it is shown as a question mark.
    """
    _ = draft.translator.gettext
    title = name_game(draft, claim.game)
    names = draft.translator.join(name if register.is_name(name) else "?" for name in claim.others)
    opened_at = datetime.fromtimestamp(claim.at, draft.calendar.timezone)
    day = format_moment(draft.request.language, opened_at)
    heading = _("%(title)s with %(names)s", title=title, names=names) if names else title
    if claim.opened:
        return f"{heading} · " + _("opened with your address, %(day)s", day=day)
    organiser = claim.organiser if register.is_name(claim.organiser) else "?"
    return f"{heading} · " + _("opened by %(who)s, %(day)s", who=organiser, day=day)


def write_replaced(draft: PersonalDraft) -> PersonalLetter | None:
    """Tell that another player has taken the reader's seat; None if the reader has it again."""
    _ = draft.translator.gettext
    table_id, seat_number = draft.request.kind_detail.split("/")[:2]
    seat = int(seat_number)
    with draft.app.store.reading() as db:
        table = snapshots.load_table(draft.app, db, table_id)
    if table.seats[seat].person == draft.person.id:
        return None
    title = name_game(draft, table.game.META.name)
    substitute = table.names[seat]
    return PersonalLetter(
        title=title,
        subject=_("%(title)s: %(who)s plays on in your seat", title=title, who=substitute),
        headline=_("%(name)s, %(who)s plays on in your seat.", name=draft.person.name, who=substitute),
        text=_(
            "A substitute has taken your seat at a table of %(title)s. Your link no longer works, and no more letters"
            " come from that table. Thank you for having played!",
            title=title,
        ),
        reason=_("You get this letter because you had a seat at a table of Depesche."),
        settings_link=draft.settings_link,
    )


def write_channel(draft: PersonalDraft) -> PersonalLetter | None:
    """Tell that a channel was switched off because it kept failing; None if it works again or is removed."""
    number_text, _slash, _time = draft.request.kind_detail.partition("/")
    number = parse_int(number_text) or 0
    with draft.app.store.reading() as db:
        channel = channels.find(db, number)
    if channel is None or channel.person != draft.person.id or channel.disabled_at is None:
        return None
    return _write_switched_off(draft, channel.label, channel.error)


def write_follower(draft: PersonalDraft) -> PersonalLetter | None:
    """Tell that a chat gets no more news of a table; None if it works again or is removed."""
    number_text, _slash, _time = draft.request.kind_detail.partition("/")
    number = parse_int(number_text) or 0
    with draft.app.store.reading() as db:
        follower = _find_follower(db, draft, number)
    if follower is None or follower.disabled_at is None:
        return None
    return _write_switched_off(draft, webhooks.NAMES[follower.kind], follower.error)


def _find_follower(db: Connection, draft: PersonalDraft, number: int) -> FollowerRow | None:
    """Find the chat with this number; None if there is none, or if another player added it."""
    of_reader = (follower_table.c.id == number, follower_table.c.person == draft.person.id)
    chats = followers.list_followers(db, *of_reader)
    return chats[0] if chats else None


def write_added(draft: PersonalDraft) -> PersonalLetter | None:
    """Tell that a way to read the news of the reader's games was added; None if it is removed already."""
    _ = draft.translator.gettext
    added = _load_added(draft)
    if added is None:
        return None
    return PersonalLetter(
        subject=_("“%(label)s” was added", label=added.label),
        headline=_("%(name)s, “%(label)s” was added.", name=draft.person.name, label=added.label),
        text=_(
            "From now on the news of your games can be read there, too. If it was you, there is nothing to do. If not,"
            " remove it, and take new links under “My tables”: another person has one of yours."
        ),
        button=_("Look at it, or remove it"),
        link=added.page,
        reason=_("You get this letter so that nothing is added without your knowledge."),
        settings_link=draft.settings_link,
    )


def write_secret(draft: PersonalDraft) -> PersonalLetter | None:
    """Tell that the secret of a webhook is new; None if the webhook is removed."""
    _ = draft.translator.gettext
    added = _load_added(draft)
    if added is None:
        return None
    return PersonalLetter(
        subject=_("“%(label)s” has a new secret", label=added.label),
        headline=_("%(name)s, “%(label)s” has a new secret.", name=draft.person.name, label=added.label),
        text=_(
            "The host of this server has renewed the secrets of all webhooks. Please copy the new one into the program"
            " that checks your messages. Until the next renewal they are signed with the old secret, too."
        ),
        button=_("Show the new secret"),
        link=added.page,
        reason=_("You get this letter because you had asked us to tell you there about your games."),
        settings_link=draft.settings_link,
    )


class AddedReceiver(NamedTuple):
    """A channel, a feed or a chat that a letter is about: what it is called, and the page where it is removed."""

    label: str
    page: str


def _load_added(draft: PersonalDraft) -> AddedReceiver | None:
    """Load what the letter says was added; None if it is removed already."""
    kind, number_text = draft.request.kind_detail.split("/")[:2]
    number = parse_int(number_text) or 0
    with draft.app.store.reading() as db:
        match kind:
            case "channel":
                return _find_added_channel(db, draft, number)
            case "feeds":
                return _find_added_feeds(draft, number)
            case "follower":
                return _find_added_follower(db, draft, number)
    return None


def _find_added_channel(db: Connection, draft: PersonalDraft, number: int) -> AddedReceiver | None:
    """Find a channel that was added; None if it is gone, or belongs to another person."""
    channel = channels.find(db, number)
    if channel is None or channel.person != draft.person.id:
        return None
    return AddedReceiver(channel.label, f"{draft.settings_link}#channels")


def _find_added_feeds(draft: PersonalDraft, number: int) -> AddedReceiver | None:
    """Describe the feeds that were opened; None if they were closed, or got other addresses since."""
    if not draft.person.feeds_open or draft.person.feeds_number != number:
        return None
    return AddedReceiver(draft.translator.gettext("Calendar and feed"), f"{draft.settings_link}/connections")


def _find_added_follower(db: Connection, draft: PersonalDraft, number: int) -> AddedReceiver | None:
    """Find a chat that follows a table, and the page about it of the reader's seat there; None if either is gone."""
    follower = _find_follower(db, draft, number)
    if follower is None:
        return None
    seats = queries.list_seats(db, follower.table)
    own = [seat for seat in seats if seat.person == draft.person.id and seat.proven]
    if not own:
        return None
    link = f"{draft.app.settings.address}/t/{access.make_seat_link(draft.app, own[0])}"
    return AddedReceiver(webhooks.NAMES[follower.kind], f"{link}/followers")


def _write_switched_off(draft: PersonalDraft, label: str, error: str) -> PersonalLetter:
    """Write that a channel or a chat is switched off, with its last answer."""
    _ = draft.translator.gettext
    return PersonalLetter(
        subject=_("“%(label)s” is switched off", label=label),
        headline=_("%(name)s, “%(label)s” is switched off.", name=draft.person.name, label=label),
        text=_(
            "We could not reach it for days, so we send nothing there any more. Your letters come as before. When it"
            " works again, switch it on in your settings. The last answer was: %(error)s",
            error=error or _("none"),
        ),
        button=_("Open the settings"),
        link=draft.settings_link,
        reason=_("You get this letter because you had asked us to tell you there about your games."),
        settings_link=draft.settings_link,
    )


WRITERS: dict[str, Callable[[PersonalDraft], PersonalLetter | None]] = {
    "enter": write_enter,
    "confirm": write_confirm,
    "digest": digest.write_digest,
    "replaced": write_replaced,
    "channel": write_channel,
    "added": write_added,
    "secret": write_secret,
    "follower": write_follower,
}


def build_message(app: App, request: LetterRequest, letter: PersonalLetter) -> EmailMessage:
    """Render a letter and return its e-mail; a digest that is too long has fewer boards."""
    templates = get_environment(request.language)
    html = "" if request.plain else templates.get_template("mail/personal.html").render(letter=letter)
    if len(html.encode()) > MAX_HTML_BYTES and any(turn.board for turn in letter.turns):
        return build_message(app, request, digest.leave_board_out(letter))
    kind = find_kind(request.kind)
    content = LetterContent(
        subject=" ".join(letter.subject.split()),
        id=emails.make_personal_id(app, request),
        text=templates.get_template("mail/personal.txt").render(letter=letter),
        html=html,
        kind=kind,
        kind_name=request.kind_name,
        settings_address=app.links.make_settings_address(app.settings, request.person, request.settings_number),
        title=letter.title,
        translator=Translator(request.language),
        topic=kind.topic,
        reply_to=letter.reply_to,
        pictures=letter.pictures,
    )
    return emails.build_message(app, request, content)
