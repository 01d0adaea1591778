"""Treatment of every request and response: an id, a log line, headers, compression, session cookie, and error pages.

A chat's crawler that opens a private link learns nothing. Answers are compressed by brotli where the client reads it,
else by gzip: for a page of 87 kB brotli at quality 5 takes 0.84 ms of processor time and gives 9.5 kB; gzip at level 5
takes 0.71 ms and gives 11.0 kB; zstd, which fewer browsers read, takes 0.70 ms for 9.9 kB.
"""

from __future__ import annotations

import functools
import gzip
import io
import re
import secrets
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec
import structlog
from flask import Flask, Response, g, request, url_for
from flask.sessions import SecureCookieSessionInterface
from itsdangerous import SignatureExpired, TimestampSigner, URLSafeTimedSerializer
from msgspec import Struct
from sqlalchemy.exc import DataError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection
from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars
from werkzeug.datastructures import Accept, Headers
from werkzeug.exceptions import Forbidden, HTTPException
from werkzeug.http import parse_accept_header

from engine.catalogue import NotInstalled
from engine.refusal import Refused
from service.app import App
from service.monitoring import find_first_line
from service.store.connection import is_unavailable
from service.tables import access
from service.tables.access import TransferredAway, Unknown
from service.text.languages import Sentence, translate
from service.wakeups import REQUEST_ID
from service.web import static_files
from service.web.api.operations import JSON, Garbled, Refusal
from service.web.rendering import get_app, get_language, render, render_problem

log = structlog.get_logger()
RETRY_AFTER_S = 5  # while the database cannot be reached
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; form-action 'self'; frame-src 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)

# The length of a compressed page would tell something of a secret beside text that another person could choose. So the
# pages of a table get noise, and other pages with forms go out as they are.
NOISY_ENDPOINTS = frozenset(("table.show",))
FILE_ENDPOINTS = frozenset((static_files.VERSION_ENDPOINT, static_files.PLAIN_ENDPOINT, "lobby.send_picture"))
OTHER_ENDPOINTS = frozenset(("table.show_earlier", "replay.show_frame", "replay.send_text", "replay.send_log"))
COMPRESSED_ENDPOINTS = NOISY_ENDPOINTS | FILE_ENDPOINTS | OTHER_ENDPOINTS
MIN_COMPRESSED_BYTES = 300
SCRIPT_COMMENTS = re.compile(rb"/\*\*(?:(?!\*/).)*\*/ ?|(?:^|(?<=[;,{]))[ \t]*//[^\n]*", re.MULTILINE | re.DOTALL)
SCRIPT_LAYOUT = re.compile(rb"(?<=[,;{(\[])\n\s*|^\s+", re.MULTILINE)  # indentation; ends of lines after these signs
STYLE_COMMENTS = re.compile(rb"/\*(?:(?!\*/).)*\*/", re.DOTALL)
STYLE_LAYOUT = re.compile(rb"\s*([{};])\s*|\n\s*")

HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",  # "no-referrer" would hide the Origin of our own forms too
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}
CRAWLERS = re.compile(
    r"Slackbot|Slack-ImgProxy|Discordbot|facebookexternalhit|Facebot|WhatsApp|TelegramBot|Twitterbot|LinkedInBot|"
    r"SkypeUriPreview|MicrosoftPreview|Mattermost|Synapse|Iframely|Embedly|redditbot|Applebot|vkShare|Viber|Signal|"
    r"Mastodon|Pleroma|Misskey|Cardyb|Zulip|Rocket\.Chat|Google-PageRenderer",
    re.IGNORECASE,
)
FOR_PROGRAMS = ("feeds", "table_feed", "previews")  # blueprints without pages
FAILURE = "depesche.failure"  # in the environment of a request that failed before Flask was called: its exception
ENCODINGS = ("br", "gzip")  # the best first
BROTLI_QUALITY, GZIP_LEVEL = 5, 5
BROTLI_BEST, GZIP_BEST = 11, 9  # for files, which are compressed once
MAX_NOISE_BYTES = 100
FILE_STATUSES = (200, 206, 304)


def begin_request(app: App) -> None:
    """Give the request an id, which its log lines carry, and those of the workers that it wakes.

    If it failed before Flask was called, raise its exception.
    """
    g.began = time.perf_counter()
    clear_contextvars()
    bind_contextvars(request=make_request_id(app, request.headers.get("X-Request-Id", "")))
    if request.environ.get(FAILURE):
        raise request.environ[FAILURE]


def make_request_id(app: App, proposed: str) -> str:
    """Return the id that a trusted proxy proposes for a request, or a new one."""
    is_fine = app.settings.proxies and REQUEST_ID.fullmatch(proposed)
    return proposed if is_fine else secrets.token_hex(8)


STOP_VIEW = "preferences.stop"  # mail programs stop letters by themselves (RFC 8058)
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


def refuse_foreign_form(app: App) -> None:
    """Raise Forbidden if a page of another site made the browser send this form.

    Browsers say so themselves: in Sec-Fetch-Site, or over plain HTTP in Origin. Programs send neither.
    """
    is_program = request.endpoint == STOP_VIEW or request.blueprint == "api"
    if request.method in SAFE_METHODS or is_program:
        return
    if not is_own_form(app, request.headers):
        raise Forbidden


def is_own_form(app: App, headers: Mapping[str, str] | Headers) -> bool:
    """Return whether a form with these headers comes from a page of this server, or from a program."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    own_hosts = (headers.get("host"), urlsplit(app.settings.address).netloc)
    if site:
        return site in ("same-origin", "none")
    return origin is None or origin.partition("://")[2] in own_hosts


def log_request(response: Response) -> Response:
    """Log the request by its route; its path may hold a link, which is a key."""
    ms = round((time.perf_counter() - g.began) * 1000, 1)
    log.info("request", method=request.method, route=str(request.url_rule), status=response.status_code, ms=ms)
    return response


def set_retry_after(response: Response) -> Response:
    """Say when to come back, if the answer asks for that, and only then."""
    if response.status_code == 503:
        response.headers["Retry-After"] = str(RETRY_AFTER_S)
    elif response.status_code != 429:
        response.headers.pop("Retry-After", None)
    return response


def set_headers(response: Response) -> Response:
    """Forbid foreign code, caching, and a Referer to other sites, which would give a link away."""
    if request.endpoint == static_files.VERSION_ENDPOINT and response.status_code in FILE_STATUSES:
        response.headers["Cache-Control"] = static_files.FOREVER
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers["X-Request-Id"] = get_contextvars().get("request", "")
    return response


def compress_response(response: Response) -> Response:
    """Compress a picture, a style, a script, a table or a frame of a replay; styles and scripts lose their comments."""
    endpoint, is_font = request.endpoint, "font" in (response.mimetype or "")
    if endpoint not in COMPRESSED_ENDPOINTS or is_font or response.status_code != 200:
        return response
    response.vary.add("Accept-Encoding")
    size = response.content_length or MIN_COMPRESSED_BYTES
    encoding = choose_encoding(request.headers.get("Accept-Encoding", ""))
    if not encoding or size < MIN_COMPRESSED_BYTES:
        return response
    response.direct_passthrough = False
    content = response.get_data()
    if endpoint in NOISY_ENDPOINTS:
        response.set_data(compress_with_noise(content, encoding))
    elif endpoint in FILE_ENDPOINTS:
        response.set_data(_compress_once(content, encoding, request.path.rpartition(".")[2]))
    else:
        response.set_data(compress_content(content, encoding))
    response.headers["Content-Encoding"] = encoding
    etag, _ = response.get_etag()
    if etag:
        response.set_etag(etag, weak=True)
    return response


@functools.lru_cache(64)
def _compress_once(content: bytes, encoding: str, kind: str) -> bytes:
    """Compress a file; people read modules that end in .mjs, or these have another licence, so they stay whole."""
    if kind in SHORTEN:
        content = SHORTEN[kind](content)
    return compress_content(content, encoding, best=True)


def shorten_style(style: bytes) -> bytes:
    """Return a style without comments and without layout; its strings may hold no braces and no semicolons."""
    return STYLE_LAYOUT.sub(lambda found: found[1] or b" ", STYLE_COMMENTS.sub(b"", style))


def shorten_script(script: bytes) -> bytes:
    """Return a script without comments and without layout.

    Its strings may not go over several lines, and not hold what looks like a comment.
    """
    return SCRIPT_LAYOUT.sub(b"", SCRIPT_COMMENTS.sub(b"", script))


SHORTEN = {"js": shorten_script, "css": shorten_style}  # by the endings of files


class LenientSigner(TimestampSigner):
    """Accepts a cookie that was signed a moment in the future.

    A clock can be set back, and the clocks of two machines differ; Flask would take the cookie for a forgery, sign the
    visitor out and refuse all open forms. The signature proves the cookie; its time only says when it is too old.
    """

    def unsign(self, signed_value: str | bytes, max_age: int | None = None, return_timestamp: bool = False) -> Any:
        try:
            return super().unsign(signed_value, max_age, return_timestamp)  # type: ignore[call-overload]  # of a bool
        except SignatureExpired as expired:
            if expired.date_signed and expired.date_signed > self.timestamp_to_datetime(self.get_timestamp()):
                return super().unsign(signed_value, None, return_timestamp)  # type: ignore[call-overload]
            raise


class LenientSessions(SecureCookieSessionInterface):
    """Sessions in signed cookies, with the lenient signer."""

    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        serializer = super().get_signing_serializer(app)
        if serializer:
            serializer.signer = LenientSigner
        return serializer


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


def answer_error(error: Exception) -> Any:
    """Answer an error with a page, or with JSON on the interface for programs."""
    if request.path.startswith("/api/"):
        status, sentence = _explain(error, SENTENCES_FOR_PROGRAMS)
        refusal = Refusal(translate(get_language(), sentence), error.rule if isinstance(error, Refused) else "")
        return msgspec.json.encode(refusal), status, _make_headers_for_programs(error)
    status, sentence = _explain(error, SENTENCES)
    moved_to = f"{error.server}/t/{error.link}" if isinstance(error, TransferredAway) and error.link else ""
    return render_problem(sentence, status, _find_log_address(error), moved_to)


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
            if not (isinstance(error, OperationalError) and is_unavailable(error)):
                log.warning("database too slow", route=str(request.url_rule), error=find_first_line(error))
            return 503, NO_DATABASE
    log.error("page failed", route=str(request.url_rule), exc_info=error)
    return 500, FAULT


class PrivatePage(Struct, frozen=True):
    """The page `private.html`, which says the same about all private pages."""


def is_crawler(user_agent: str) -> bool:
    """Return whether this is a program that opens links in order to show a preview of them."""
    return bool(CRAWLERS.search(user_agent))


def answer_crawler() -> Response | None:
    """Answer a chat's crawler that opens a private link; None for all others."""
    arguments = request.view_args or {}
    has_key = "link" in arguments or "token" in arguments
    if not has_key or request.blueprint in FOR_PROGRAMS:
        return None
    if request.method not in ("GET", "HEAD") or not is_crawler(request.user_agent.string):
        return None
    if "link" in arguments and not _is_private(arguments["link"]):
        return None
    return render("private.html", PrivatePage())


def _is_private(link: str) -> bool:
    try:
        return access.find(get_app(), link).seat is not None
    except Refused:
        return False  # the page itself says why


@functools.lru_cache(256)
def choose_encoding(header: str) -> str:
    """Return how to compress for a client with this Accept-Encoding; empty if it reads only what is not compressed."""
    accepted = parse_accept_header(header, Accept)
    best = max(ENCODINGS, key=accepted.quality)
    return best if accepted.quality(best) > 0 else ""


def compress_content(content: bytes, encoding: str, best: bool = False) -> bytes:
    """Compress what holds no secret; `best` takes a hundred times as long."""
    if encoding == "gzip":
        return gzip.compress(content, GZIP_BEST if best else GZIP_LEVEL, mtime=0)
    import brotli  # loaded with the first page that is compressed so

    compressed: bytes = brotli.compress(content, brotli.MODE_TEXT, BROTLI_BEST if best else BROTLI_QUALITY)
    return compressed


def compress_with_noise(content: bytes, encoding: str) -> bytes:
    """Compress a page that has a secret beside text that another person chose.

    Its length would tell whether the text occurs in the secret, if it did not hold a part of random length that every
    reader skips ("Heal the BREACH"): in gzip the name of the file, in brotli a block of metadata.
    """
    noise = b"x" * (1 + secrets.randbelow(MAX_NOISE_BYTES))
    return _compress_with_name(content, noise) if encoding == "gzip" else _add_metadata(content, noise)


def _compress_with_name(content: bytes, name: bytes) -> bytes:
    file = io.BytesIO()
    with gzip.GzipFile(name, "wb", GZIP_LEVEL, file, 0) as zipping:
        zipping.write(content)
    return file.getvalue()


def _add_metadata(content: bytes, noise: bytes) -> bytes:
    """Compress by brotli, with a block of metadata before the end (RFC 7932, section 9.2)."""
    import brotli

    compressor = brotli.Compressor(brotli.MODE_TEXT, BROTLI_QUALITY)
    start: bytes = compressor.process(content) + compressor.flush()  # ends at a whole byte
    # Bits, the lowest first: not the last block; metadata (11); reserved (0); its length less one is a byte (01); that.
    header = 0b010110 | (len(noise) - 1) << 6
    end: bytes = compressor.finish()
    return start + header.to_bytes(2, "little") + noise + end
