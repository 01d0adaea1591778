"""The request that is served: its app, id, language and visitor, and the headers of every answer.

Forms of other websites are refused, and so are chats' crawlers that open private links.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import structlog
from flask import Flask, Response, current_app, g, request
from flask.sessions import SecureCookieSessionInterface
from itsdangerous import SignatureExpired, TimestampSigner, URLSafeTimedSerializer
from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars
from werkzeug.datastructures import Headers
from werkzeug.exceptions import Forbidden
from werkzeug.wrappers import Request

from engine.refusal import Refused
from service.app import App
from service.tables import access
from service.text.languages import LANGUAGES, SOURCE
from service.wakeups import REQUEST_ID
from service.web import static_files
from service.web.wsgi_threads import UNKNOWN_PROXY, name_network

log = structlog.get_logger()
LANGUAGE_COOKIE = "language"
PROXY_HEADERS = ("Via", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip")
RETRY_AFTER_S = 5  # while the database cannot be reached
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; form-action 'self'; frame-src 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)
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
STOP_VIEW = "preferences.stop"  # mail programs stop letters by themselves (RFC 8058)
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
FILE_STATUSES = (200, 206, 304)


def get_app() -> App:
    """Return the app that this web process serves."""
    app: App = current_app.extensions["app"]
    return app


def get_language() -> str:
    """Return the language of this request."""
    return choose_language(request)


def choose_language(request: Request) -> str:
    """Return the language chosen on a page, else the best one for the browser, else English."""
    chosen = request.cookies.get(LANGUAGE_COOKIE, "")
    if chosen in LANGUAGES:
        return chosen
    return request.accept_languages.best_match(LANGUAGES) or SOURCE


def find_picture_language() -> str:
    """Return the language that the address of a picture asks for, else English: caches share it between readers."""
    return find_language_argument() or SOURCE


def find_language_argument() -> str:
    """Return the language that the address asks for by `in`; empty if it asks for none that Depesche has."""
    chosen = request.args.get("in", "")
    return chosen if chosen in LANGUAGES else ""


def name_visitor() -> str:
    """Return a name for the visitor's network: one IPv4 address, or 64 bits of IPv6; empty if it is unknown."""
    network = name_network(request.remote_addr or "")
    return get_app().links.make_visitor_name(network) if network else ""


def is_local_visitor(app: App, request: Request) -> bool:
    """Return whether the visitor's browser runs on this machine.

    The connection, the address that a trusted proxy reports, and the host name must all be local. Behind TLS or an
    unnamed proxy every visitor would seem local, so the answer is no.
    """
    before_proxy_fix = request.environ.get("werkzeug.proxy_fix.orig", {})  # empty if no proxy is trusted
    connection_address = before_proxy_fix.get("REMOTE_ADDR", request.remote_addr)
    host = urlsplit(f"//{request.host}").hostname or ""
    is_proxied = "Forwarded" in request.headers or _has_unknown_proxy(app, request)
    if is_proxied or app.settings.address.startswith("https:"):
        return False
    is_local_host = host == "localhost" or _is_loopback(host)
    return _is_loopback(connection_address) and _is_loopback(request.remote_addr) and is_local_host


def _has_unknown_proxy(app: App, request: Request) -> bool:
    """Return whether a proxy passed this request on, although the settings say that there is none.

    Browsers have not sent HTTP/1.0 for decades, but nginx does by default.
    """
    if app.settings.proxies:
        return False
    has_header = any(name.startswith("X-Forwarded") or name in PROXY_HEADERS for name, _ in request.headers)
    had_header = UNKNOWN_PROXY in request.environ  # which `wsgi_threads` has left out
    return has_header or had_header or request.environ.get("SERVER_PROTOCOL") == "HTTP/1.0"


def _is_loopback(address: str | None) -> bool:
    """Return whether an address is this machine's own, in IPv4, in IPv6, or as IPv4 within IPv6."""
    try:
        ip = ipaddress.ip_address(address or "")
    except ValueError:
        return False
    mapped = getattr(ip, "ipv4_mapped", None)
    return bool((mapped or ip).is_loopback)


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
        return site in ("same-origin", "none")  # “none”: no page sent it, but the user of the browser
    if origin is None:
        return True  # a program
    _, _, origin_host = origin.partition("://")
    return origin_host in own_hosts


class PrivateToCrawlers(Exception):
    """A chat's crawler opened a private link, in order to show a preview of it; it learns nothing."""


def is_crawler(user_agent: str) -> bool:
    """Return whether this is a program that opens links in order to show a preview of them."""
    return bool(CRAWLERS.search(user_agent))


def refuse_crawler() -> None:
    """Raise PrivateToCrawlers if a chat's crawler opens a private link."""
    arguments = request.view_args or {}
    has_key = "link" in arguments or "token" in arguments
    if not has_key or request.blueprint in FOR_PROGRAMS:
        return
    if request.method not in ("GET", "HEAD") or not is_crawler(request.user_agent.string):
        return
    is_private = "link" not in arguments or _is_private(arguments["link"])  # every token is private
    if is_private:
        raise PrivateToCrawlers


def _is_private(link: str) -> bool:
    """Return whether a link is that of a seat; False for a spectator's link, and for a link that leads nowhere."""
    try:
        return access.find(get_app(), link).seat is not None
    except Refused:
        return False  # the page itself says why


def log_request(response: Response) -> Response:
    """Log the request by its route; its path may hold a link, which is a key."""
    ms = round((time.perf_counter() - g.began) * 1000, 1)
    log.info("request", method=request.method, route=str(request.url_rule), status=response.status_code, ms=ms)
    return response


def set_retry_after(response: Response) -> Response:
    """Say with a 503 when to try again; a 429 has this from `Allowance.make_headers`."""
    if response.status_code == 503:
        response.headers["Retry-After"] = str(RETRY_AFTER_S)
    return response


def set_headers(response: Response) -> Response:
    """Forbid foreign code, caching, and a Referer to other sites, which would give a link away.

    What a view has set stays as it is, and a file whose address holds its version may be cached for ever.
    """
    if request.endpoint == static_files.VERSION_ENDPOINT and response.status_code in FILE_STATUSES:
        response.headers["Cache-Control"] = static_files.FOREVER
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers["X-Request-Id"] = get_contextvars().get("request", "")
    return response


class LenientSigner(TimestampSigner):
    """Accepts a cookie that was signed a moment in the future.

    A clock can be set back, and the clocks of two machines differ; Flask would take the cookie for a forgery, sign the
    visitor out and refuse all open forms. The signature proves the cookie; its time only says when it is too old.
    """

    def unsign(self, signed_value: str | bytes, max_age: int | None = None, return_timestamp: bool = False) -> Any:
        """Return the signed value as Flask does; a value that was signed in the future has any age."""
        try:
            return super().unsign(signed_value, max_age, return_timestamp)  # type: ignore[call-overload]  # of a bool
        except SignatureExpired as expired:
            now = self.timestamp_to_datetime(self.get_timestamp())
            is_from_future = expired.date_signed is not None and expired.date_signed > now
            if is_from_future:
                any_age = None
                return super().unsign(signed_value, any_age, return_timestamp)  # type: ignore[call-overload]
            raise


class LenientSessions(SecureCookieSessionInterface):
    """Sessions in signed cookies, with the lenient signer."""

    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        """Return Flask's serializer with the lenient signer; None without a secret key."""
        serializer = super().get_signing_serializer(app)
        if serializer:
            serializer.signer = LenientSigner
        return serializer
