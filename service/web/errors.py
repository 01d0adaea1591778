"""Errors as answers: one sentence that says what to do instead, on a page or as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import structlog
from flask import request, url_for
from flask_wtf.csrf import CSRFError
from sqlalchemy.exc import DataError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection
from werkzeug.exceptions import HTTPException

from engine.catalogue import NotInstalled
from engine.refusal import Refused
from service.monitoring import first_line
from service.store.connection import is_unavailable
from service.tables.access import Moved, Unknown
from service.text.sentences import Sentence, translate
from service.web.api.json_types import Refusal
from service.web.api.operations import JSON, Garbled
from service.web.rendering import language, problem

log = structlog.get_logger()
SENTENCES = {
    400: Sentence("This request could not be read; please go back to the page and try again."),
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
OLD_FORM = Sentence("This page has grown old; please go back, load it again, and send the form once more.")
FAULT = Sentence("Something went wrong on our side. Please look again to see what was done before you repeat it.")
NO_DATABASE = Sentence("Our records cannot be reached just now. Please look again in a moment to see what was done.")


def answer_error(error: Exception) -> Any:
    """Answer an error with a page, or with JSON on the interface for programs."""
    if request.path.startswith("/api/"):
        status, sentence = _explain(error, SENTENCES_FOR_PROGRAMS)
        refusal = Refusal(translate(language(), sentence), error.rule if isinstance(error, Refused) else "")
        return msgspec.json.encode(refusal), status, _headers_for_programs(error)
    status, sentence = _explain(error, SENTENCES)
    moved_to = f"{error.server}/t/{error.link}" if isinstance(error, Moved) and error.link else ""
    return problem(sentence, status, _log_address(error), moved_to)


def _log_address(error: Exception) -> str:
    """Return the address of the log if the game of this table is not installed; else an empty text."""
    link = (request.view_args or {}).get("link")
    return url_for("replay.log", link=link) if link and isinstance(error, NotInstalled) else ""


def _headers_for_programs(error: Exception) -> dict[str, str]:
    """Return the headers of a refusal: the allowed methods, how long to wait, where a table was transferred to."""
    headers = dict(error.get_response().headers) if isinstance(error, HTTPException) else {}
    if isinstance(error, Moved) and error.link:  # the other server knows the same link
        before, _, after = request.path.partition(error.link)
        headers["Location"] = f"{error.server}{before}{error.link}{after}"
    return {**headers, "Content-Type": JSON, "Cache-Control": "no-store"}


def _explain(error: Exception, sentences: Mapping[int, Sentence]) -> tuple[int, Sentence]:
    """Return the status and the sentence for an error; log it if it is a fault of the server."""
    match error:
        case Moved():
            return 410, Sentence.from_refusal(error)
        case Unknown():
            return 404, Sentence.from_refusal(error)
        case Garbled():
            return 400, Sentence.from_refusal(error)
        case Refused():
            return 422, Sentence.from_refusal(error)
        case CSRFError():
            return 400, OLD_FORM
        case HTTPException(code=int(code)):
            return code, sentences.get(code, Sentence(str(error.description)))
        case DataError():  # PostgreSQL stores no text with a NUL in it
            return 400, sentences[400]
        case OperationalError() | NoConnection():
            if not (isinstance(error, OperationalError) and is_unavailable(error)):
                log.warning("database too slow", route=str(request.url_rule), error=first_line(error))
            return 503, NO_DATABASE
    log.error("page failed", route=str(request.url_rule), exc_info=error)
    return 500, FAULT
