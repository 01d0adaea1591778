"""Scripts, styles, fonts and pictures of the pages, which browsers keep for a year.

Their addresses hold a hash of all of them, as a folder, so that scripts find each other by relative addresses. Without
the hash, or with that of another version, a file is sent as it is now, and browsers ask each time.
"""

from __future__ import annotations

import functools
import hashlib
import re

from flask import Flask, Response

from service.text.templates import TEMPLATES

FOLDER = TEMPLATES / "static"
HASH_LETTERS = 10
ANY_VERSION = re.compile(rf"v[0-9a-f]{{{HASH_LETTERS}}}/")
FOREVER = "public, max-age=31536000, immutable"
VERSION_ENDPOINT = "static"  # the endpoint of Flask, which `url_for` uses
PLAIN_ENDPOINT = "static_unversioned"


@functools.cache
def find_version() -> str:
    """Return the name of the folder in addresses; it changes with each change of a file."""
    content = hashlib.sha256()
    files = [path for path in FOLDER.rglob("*") if path.is_file()]
    for path in sorted(files):  # the system lists them in any order
        content.update(path.relative_to(FOLDER).as_posix().encode())
        content.update(path.read_bytes())
    return f"v{content.hexdigest()[:HASH_LETTERS]}"


def make_flask(name: str) -> Flask:
    """Make an application of Flask that sends the files by both kinds of addresses."""
    flask_app = Flask(name, static_folder=str(FOLDER), static_url_path=f"/static/{find_version()}")
    flask_app.add_url_rule("/static/<path:filename>", PLAIN_ENDPOINT, functools.partial(_send_now, flask_app))
    return flask_app


def _send_now(flask_app: Flask, filename: str) -> Response:
    """Send a file as it is now, also if the address has the hash of another version."""
    version = ANY_VERSION.match(filename)
    path = filename[version.end() :] if version else filename
    return flask_app.send_static_file(path)
