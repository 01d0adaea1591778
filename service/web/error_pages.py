"""Errors as pages, or as JSON on the interface for programs: what is wrong, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import structlog
from flask import request, url_for
from msgspec import Struct
from sqlalchemy.exc import DataError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection
from werkzeug.exceptions import HTTPException

from engine.catalogue import NotInstalled
from engine.refusal import Refused
from service.monitoring import find_first_line
from service.store.connection import is_unavailable
from service.tables.access import TransferredAway, Unknown
from service.text.languages import Sentence, Translatable, translate
from service.web.api.operations import JSON, Garbled, Refusal
from service.web.current_request import PrivateToCrawlers, get_language
from service.web.rendering import render

log = structlog.get_logger()
SENTENCES = {
    400: Sentence("This request could not be read; please go back to the page and try again."),
    403: Sentence("Another website sent this form. Please open the page here, and send it again."),
    404: Sentence("There is nothing at this address; please use the newest link you have."),
    405: Sentence("This address is only for looking at; please use the buttons on the page."),
    413: Sentence("That is far too much text for a move; please write a few words."),
    415: Sentence("Please send JSON, with the header Content-Type: application/json."),
    429: Sentence("That was a little too much at once; please wait a while and try again."),
}
SENTENCES_FOR_PROGRAMS = SENTENCES | {
    404: Sentence("There is nothing at this address; the page /api tells what there is."),
    405: Sentence("This cannot be done here; the header Allow says what can, and the page /api how."),
    413: Sentence("That is too much; a request has at most 64 kB."),
}
FAULT = Sentence("Something went wrong on our side. Please look again to see what was done before you repeat it.")
NO_DATABASE = Sentence("Our records cannot be reached just now. Please look again in a moment to see what was done.")


class ProblemPage(Struct, frozen=True):
    """Everything `problem.html` shows: what is wrong, and links that help."""

    status: int
    sentence: Translatable
    log: str  # address of the log; empty if there is none
    moved_to: str  # address of the game on another server; empty if it is here


class PrivatePage(Struct, frozen=True):
    """The page `private.html`, which says the same about all private pages."""


def answer_error(error: Exception) -> Any:
    """Answer an error with a page, or with JSON on the interface for programs."""
    if isinstance(error, PrivateToCrawlers):
        return render("private.html", PrivatePage())
    if request.path.startswith("/api/"):
        status, sentence = _explain(error, SENTENCES_FOR_PROGRAMS)
        rule = error.rule if isinstance(error, Refused) else ""
        refusal = Refusal(translate(get_language(), sentence), rule)
        return msgspec.json.encode(refusal), status, _make_headers_for_programs(error)
    status, sentence = _explain(error, SENTENCES)
    page = ProblemPage(status, sentence, _find_log_address(error), _find_new_address(error))
    return render("problem.html", page, status)


def _find_new_address(error: Exception) -> str:
    """Return the address of a game that was transferred; empty for other errors, and if no link was used."""
    if isinstance(error, TransferredAway) and error.link:
        return f"{error.server}/t/{error.link}"
    return ""


def _find_log_address(error: Exception) -> str:
    """Return the address of the log if the game of this table is not installed; else an empty text."""
    link = (request.view_args or {}).get("link")
    return url_for("replay.send_log", link=link) if link and isinstance(error, NotInstalled) else ""


def _make_headers_for_programs(error: Exception) -> dict[str, str]:
    """Return the headers of a refusal: the allowed methods, how long to wait, where a table was transferred to."""
    headers = dict(error.get_response().headers) if isinstance(error, HTTPException) else {}
    if isinstance(error, TransferredAway) and error.link:  # the other server knows the same link
        before, _, after = request.path.partition(error.link)
        headers["Location"] = f"{error.server}{before}{error.link}{after}"
    return {**headers, "Content-Type": JSON, "Cache-Control": "no-store"}


def _explain(error: Exception, sentences: Mapping[int, Sentence]) -> tuple[int, Sentence]:
    """Return the status and the sentence for an error; log it if it is a fault of the server."""
    match error:
        case TransferredAway():
            return 410, Sentence.from_refusal(error)
        case Unknown():
            return 404, Sentence.from_refusal(error)
        case Garbled():
            return 400, Sentence.from_refusal(error)
        case Refused():
            return 422, Sentence.from_refusal(error)
        case HTTPException(code=int(code)):
            return code, sentences.get(code, Sentence(str(error.description)))
        case DataError():  # PostgreSQL stores no text with a NUL in it
            return 400, sentences[400]
        case OperationalError() | NoConnection():
            is_away = isinstance(error, OperationalError) and is_unavailable(error)
            if not is_away:
                log.warning("database too slow", route=str(request.url_rule), error=find_first_line(error))
            return 503, NO_DATABASE
    log.error("page failed", route=str(request.url_rule), exc_info=error)
    return 500, FAULT
