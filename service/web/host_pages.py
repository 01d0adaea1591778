"""Pages for the host: the state of the server with what can be mended, and the local mailbox.

The host's page is in English, like the command line.
"""

from __future__ import annotations

import re
import shutil

import structlog
from flask import Blueprint, Response, abort, jsonify, make_response, redirect, request, url_for
from msgspec import Struct
from redis import RedisError
from sqlalchemy import delete, insert
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from werkzeug.wrappers import Response as Reply

from engine.refusal import Refused
from service.app import App
from service.hosting import local_mailbox, overview
from service.hosting.local_mailbox import StoredLetter
from service.hosting.overview import Overview
from service.links import is_same_secret
from service.settings import EMBEDDED
from service.store.schema import server_facts
from service.store.server_facts import NOTICE_NAMES, Notices
from service.tables.access import Unknown
from service.web.current_request import get_app, is_local_visitor
from service.web.rendering import render

host = Blueprint("host", __name__, url_prefix="/host/<token>")
mailbox = Blueprint("mailbox", __name__, url_prefix="/mailbox")


class HostPage(Struct, frozen=True):
    """Everything `host.html` shows."""

    token: str
    overview: Overview
    notices: Notices
    table: str  # the id that was searched for; empty if none was


class MailboxPage(Struct, frozen=True):
    """Everything `mailbox.html` shows."""

    letters: tuple[StoredLetter, ...]


class LetterPage(Struct, frozen=True):
    """Everything `mailbox_letter.html` shows."""

    letter: StoredLetter
    can_answer: bool
    answered: bool


# The host's page


@host.before_request
def check_link() -> None:
    """Raise Unknown unless the address has the host's newest link."""
    if not overview.is_host_link(get_app(), str((request.view_args or {}).get("token", ""))):
        raise Unknown("This is not the host's link; make one with: depesche host-link")


@host.get("")
def show(token: str) -> Response:
    """Show the state of the server."""
    app, table = get_app(), request.args.get("table", "").strip()
    return render("host.html", HostPage(token, overview.load_overview(app, table), app.notices.get(), table))


@host.post("/notice")
def store_notice(token: str) -> Reply:
    """Store a notice; without words it is taken down."""
    name = request.form.get("name", "")
    if name not in NOTICE_NAMES:
        raise Refused("There are two notices: the banner, and that no tables are opened.")
    get_app().notices.set(name, " ".join(request.form.get("words", "").split()))
    return _show_again(token)


@host.post("/finish/<table>")
def finish(token: str, table: str) -> Reply:
    """Let bots play a table to its end."""
    overview.finish_table(get_app(), table)
    return _show_again(token)


@host.post("/readdress/<int:person>")
def replace_address(token: str, person: int) -> Reply:
    """Replace a person's address that takes no letters."""
    overview.change_address(get_app(), person, request.form.get("address", ""))
    return _show_again(token)


@host.post("/send/<int:letter>")
def send(token: str, letter: int) -> Reply:
    """Try to send a letter once more."""
    overview.send_again(get_app(), letter)
    return _show_again(token)


def _show_again(token: str) -> Reply:
    return redirect(url_for("host.show", token=token), 303)


# The local mailbox


@mailbox.before_request
def check_visitor() -> None:
    """Refuse visitors from other machines, because letters have links that are keys.

    A server that sends its letters by a mail relay has no mailbox: answer 404.
    """
    if get_app().settings.smtp != EMBEDDED:
        abort(404)
    if not is_local_visitor(get_app(), request):
        raise Unknown("The mailbox can be read on the machine that Depesche runs on only; open it there.")


@mailbox.get("")
def show_newest() -> Response:
    """Show the newest letters."""
    return render("mailbox.html", MailboxPage(tuple(local_mailbox.list_newest(get_app()))))


@mailbox.get("/<int:number>")
def show_letter(number: int) -> Response:
    """Show one letter."""
    letter = _find_letter(number)
    page = LetterPage(letter, can_answer=_can_answer(letter), answered="sent" in request.args)
    return render("mailbox_letter.html", page)


@mailbox.post("/<int:number>")
def answer(number: int) -> Reply:
    """Answer a letter: the text leaves as an e-mail and comes in as any answer does."""
    letter = _find_letter(number)
    if not _can_answer(letter):
        abort(404)
    text = request.form.get("text", "").replace("\r\n", "\n").strip()
    if not text:
        raise Refused("Please write a line first, for instance “status”.")
    try:
        local_mailbox.send_reply(get_app(), letter, text)
    except (OSError, ValueError) as error:
        raise Refused("Your answer could not be sent; please try again.") from error
    return redirect(url_for("mailbox.show_letter", number=number, sent=1), 303)


@mailbox.get("/<int:number>/body")
def send_body(number: int) -> Response:
    """Send the HTML of a letter as a mail program would show it."""
    html = _find_letter(number).html
    # Pictures are parts of a letter, named by content ids; here each has an address.
    html = re.sub(r"cid:([^\"]+)", lambda match: url_for("mailbox.send_picture", number=number, name=match[1]), html)
    html = html.replace("<head>", '<head><base target="_top">', 1)  # its links leave the frame that shows it
    response = make_response(html)
    response.headers["Content-Security-Policy"] = (
        "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'"
    )
    return response


@mailbox.get("/<int:number>/picture/<name>")
def send_picture(number: int, name: str) -> Response:
    """Send a picture of a letter."""
    pictures = _find_letter(number).pictures
    if name not in pictures:
        abort(404)
    response = make_response(pictures[name])
    response.headers["Content-Type"] = "image/png"
    return response


def _find_letter(number: int) -> StoredLetter:
    """Find a letter in the mailbox; answer 404 if there is none of this number."""
    letter = local_mailbox.find_letter(get_app(), number)
    if letter is None:
        abort(404)
    return letter


def _can_answer(letter: StoredLetter) -> bool:
    return bool(letter.reply_to and get_app().inbound)


monitoring = Blueprint("monitoring", __name__)
MIN_FREE_BYTES = 16 * 2**20
log = structlog.get_logger()


@monitoring.get("/healthz")
def answer_health_check() -> tuple[Response, int]:
    """Answer 200 while the database can be written; anybody may ask, so it says nothing else."""
    return _answer_check(_can_write(get_app()))


@monitoring.get("/readyz")
def answer_readiness_check() -> tuple[Response, int]:
    """Answer 200 while this process can serve pages: its schema is the newest, and Redis answers."""
    app = get_app()
    try:
        return _answer_check(app.store.is_current() and _has_redis(app))
    except SQLAlchemyError:
        return _answer_check(ok=False)


def _answer_check(ok: bool) -> tuple[Response, int]:
    """Answer a check with 200 or 503, and with the same as JSON."""
    status = 200 if ok else 503
    return jsonify({"ok": ok}), status


def _can_write(app: App) -> bool:
    """Return whether a row can be written, so that a full disk is noticed before a player has trouble."""
    if app.store.url.startswith("sqlite:///") and shutil.disk_usage(app.settings.folder).free < MIN_FREE_BYTES:
        return False
    try:
        with app.store.writing(durable=False) as db:
            db.execute(delete(server_facts).where(server_facts.c.name == "health"))
            db.execute(insert(server_facts), {"name": "health", "value": str(app.now())})
    except IntegrityError:
        return True  # another check wrote at the same moment, so the database can be written
    except SQLAlchemyError as error:
        log.warning("database takes nothing", error=str(error.args[0]).partition("\n")[0])
        return False
    return True


def _has_redis(app: App) -> bool:
    """Return whether Redis answers; one inside this process always does."""
    try:
        return app.settings.redis == EMBEDDED or bool(app.redis.ping())
    except RedisError:
        return False


@monitoring.get("/metrics")
def send_metrics() -> Response:
    """Send the metrics to this machine, or to a program with the host's token; others get 404."""
    may_read = is_local_visitor(get_app(), request) or _has_token(get_app().settings.metrics)
    if not may_read:
        abort(404)
    from service.web import prometheus  # 1 MB that a server without a Prometheus never needs

    return Response(prometheus.generate(get_app()), content_type=prometheus.CONTENT_TYPE)


def _has_token(token: str) -> bool:
    return bool(token) and is_same_secret(request.headers.get("Authorization", ""), f"Bearer {token}")
