"""The web application: pages, forms and the JSON interface, one blueprint for each errand."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.routing import IntegerConverter, ValidationError

from engine import catalogue
from service.accounts.signing_in import VISIT_AGE_S
from service.app import App
from service.memory import collect_from_now_on, release_memory
from service.numbers import MAX_DIGITS
from service.settings import EMBEDDED
from service.text.languages import SOURCE
from service.text.templates import compile_all
from service.web import static_files
from service.web.account_pages import account
from service.web.api.reference_pages import manual
from service.web.api.routes import api
from service.web.channel_pages import channel_forms, devices
from service.web.compression import COMPRESSED_ENDPOINTS, compress_view
from service.web.connection_pages import connections
from service.web.current_request import (
    STOP_VIEW,
    LenientSessions,
    begin_request,
    log_request,
    name_visitor,
    refuse_crawler,
    refuse_foreign_form,
    set_headers,
    set_retry_after,
)
from service.web.error_pages import answer_error
from service.web.feed_pages import own_feeds, table_feed
from service.web.follower_pages import follower_page
from service.web.host_pages import host, mailbox, monitoring
from service.web.leaving_pages import leaving_pages
from service.web.lesson_pages import learning
from service.web.lobby_pages import draw_board, joining_pages, lobby_page
from service.web.new_table_pages import new_table
from service.web.page_cache import PageCache
from service.web.preferences_pages import letters
from service.web.preview_pages import pictures
from service.web.rate_limits import Limit, RateLimits, limit_view, name_link, set_limit_headers
from service.web.rendering import appearance, make_page_environment
from service.web.replay_pages import gallery, replay, verify
from service.web.rules_pages import guide, rules
from service.web.table_pages import seat_forms, table
from service.web.what_if_pages import whatif

MAX_BODY_BYTES = 64 * 1024
MINUTE_S, HOUR_S = 60, 3_600
BLUEPRINTS = (
    lobby_page,
    new_table,
    joining_pages,
    table,
    seat_forms,
    whatif,
    replay,
    gallery,
    verify,
    rules,
    learning,
    guide,
    account,
    leaving_pages,
    letters,
    connections,
    channel_forms,
    devices,
    own_feeds,
    table_feed,
    pictures,
    follower_page,
    appearance,
    host,
    mailbox,
    monitoring,
    api,
    manual,
)
# Views that open tables, send letters or send requests to other servers share one limit for each visitor.
OPENING_VIEWS = (
    "new_table.open_table",
    "new_table.open_bot_game",
    "new_table.play_again",
    "api.open_table",
    "joining.join",
    "joining.take_seat",
    "account.add_address",
    "account.correct_address",
    "account.send_link",
    "connections.add_receiver",
    "connections.try_receiver",
    "preferences.try_channel",
    "followers.add",
    "followers.send_test",
)
# Each of these views has a limit of its own for each link.
SEAT_VIEWS = (
    "seat.say",
    "seat.store_note",
    "seat.choose_confirmation",
    "seat.show_presence",
    "seat.note_presence",
    "seat.allow_spectators",
    "seat.release",
    "seat.move_order_up",
    "seat.move_branch_up",
    "seat.move_order_to_branch",
    "devices.add_device",
    "devices.remove_device",
)
MOVE_VIEWS = ("table.move", "api.submit", "table.sit", "api.sit")
HINT_VIEWS = ("table.ask_for_hint", "api.hint")
PICTURE_VIEWS = ("previews.send_board", "previews.send_lesson", "previews.describe")
PICTURES_PER_MINUTE = 120  # for each visitor, because a picture takes a twentieth of a second
STOPS_PER_MINUTE = 300  # a mail provider stops letters for many people
WARM_UP_AFTER_S = 3.0  # the first visitor is answered before


def wire(app: App) -> Flask:
    """Put the web application together."""
    flask_app = static_files.make_flask("service")
    flask_app.extensions["app"] = app
    flask_app.session_interface = LenientSessions()
    flask_app.url_map.converters["int"] = ShortIntConverter
    _configure(flask_app, app)
    for blueprint in BLUEPRINTS:
        flask_app.register_blueprint(blueprint)
    flask_app.before_request(partial(begin_request, app))
    flask_app.before_request(partial(refuse_foreign_form, app))
    flask_app.before_request(refuse_crawler)
    if app.settings.logs == "json":
        flask_app.after_request(log_request)
    for endpoint in COMPRESSED_ENDPOINTS:
        flask_app.view_functions[endpoint] = compress_view(flask_app.view_functions[endpoint])
    _limit_rates(flask_app, app)
    flask_app.after_request(set_retry_after)
    flask_app.register_error_handler(Exception, answer_error)
    flask_app.after_request(set_headers)
    flask_app.teardown_request(app.metrics.flush_after_request)
    pages = PageCache(app, flask_app.wsgi_app)
    flask_app.extensions["pages"] = pages
    flask_app.wsgi_app = pages  # type: ignore[method-assign]
    proxies = app.settings.proxies  # how many are in front of this server
    if proxies:
        flask_app.wsgi_app = ProxyFix(flask_app.wsgi_app, x_for=proxies, x_proto=proxies)  # type: ignore[method-assign]
    return flask_app


def _configure(flask_app: Flask, app: App) -> None:
    """Limit the size of requests, and set up the cookies of sessions."""
    flask_app.config.update(
        SECRET_KEY=app.secret,
        MAX_CONTENT_LENGTH=MAX_BODY_BYTES,
        MAX_FORM_MEMORY_SIZE=MAX_BODY_BYTES,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_HTTPONLY=True,
        PERMANENT_SESSION_LIFETIME=timedelta(seconds=VISIT_AGE_S),
        SESSION_COOKIE_SECURE=app.settings.address.startswith("https"),
    )


class ShortIntConverter(IntegerConverter):
    """A number in an address; a number that is too long for any row is answered with 404."""

    def to_python(self, value: str) -> int:
        """Parse the number; raise ValidationError, which means 404, if it is too long."""
        if len(value) > MAX_DIGITS:
            raise ValidationError
        return int(super().to_python(value))


def _limit_rates(flask_app: Flask, app: App) -> None:
    """Limit how often each visitor opens tables, gets pictures and stops letters, and how often each link acts."""
    shared_redis = None if app.settings.redis == EMBEDDED else app.redis  # one process alone shares nothing
    limits = RateLimits(shared_redis)
    flask_app.extensions["limits"] = limits
    flask_app.after_request(set_limit_headers)

    def limit_views(views: Sequence[str], times: int, period_s: int, key: Callable[[], str] = name_visitor) -> None:
        """Limit how often these views together are called by each visitor, or with each `key` of a request."""
        first_view = views[0]
        limit = Limit(first_view, times, period_s)
        for view in views:
            flask_app.view_functions[view] = limit_view(limits, limit, key, flask_app.view_functions[view])

    limit_views(OPENING_VIEWS, app.settings.opens_per_hour, HOUR_S)
    moves_per_minute = app.settings.moves_per_minute
    limit_views(MOVE_VIEWS, moves_per_minute, MINUTE_S, key=name_link)
    limit_views(HINT_VIEWS, moves_per_minute, MINUTE_S, key=name_link)
    for seat_view in SEAT_VIEWS:  # each is counted by itself
        limit_views((seat_view,), moves_per_minute, MINUTE_S, key=name_link)
    limit_views(PICTURE_VIEWS, PICTURES_PER_MINUTE, MINUTE_S)
    limit_views((STOP_VIEW,), STOPS_PER_MINUTE, MINUTE_S)


def make_move_limit(app: App) -> Limit:
    """Return the limit of moves by one link, under the name with which `_limit_rates` counts all ways to move."""
    return Limit(MOVE_VIEWS[0], app.settings.moves_per_minute, MINUTE_S)


def start_warm_up() -> None:
    """Warm up in the background, when the service already answers."""
    threading.Thread(target=_warm_up_and_tidy, name="warm-up", daemon=True).start()


def _warm_up_and_tidy() -> None:
    """Warm up, and give back the memory that only this needed: a tenth of what the process has."""
    time.sleep(WARM_UP_AFTER_S)
    warm_up()
    gc.collect()
    collect_from_now_on()
    release_memory()


def warm_up() -> None:
    """Draw the pictures of the lobby, and compile all templates that the last process has not stored."""
    for name in catalogue.find_all():
        draw_board(name, SOURCE)
    compile_all(make_page_environment(SOURCE))
