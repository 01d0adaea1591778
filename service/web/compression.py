"""Answers that are made smaller on their way: pictures, styles, scripts, and the frames of a replay.

Only what holds no secret beside what somebody else could choose: pages with forms go out as they are, because the
length of a compressed page tells something of what stands in it.

Our own scripts lose their comments and their indentation too, which are for readers of the source.
"""

from __future__ import annotations

import functools
import gzip
import re

from flask import Response, request

OFTEN = frozenset(("static", "lobby.picture"))
ONCE = frozenset(("table.then", "replay.frame", "replay.protocol", "replay.log"))
WORTH_IT = 300
COMMENTS = re.compile(rb"/\*\*(?:(?!\*/).)*\*/ ?|(?:^|(?<=[;,{]))[ \t]*//[^\n]*", re.MULTILINE | re.DOTALL)
INDENTATION = re.compile(rb"^\s+", re.MULTILINE)


def compress(response: Response) -> Response:
    """The same answer, compressed, where that is allowed, understood and worth it."""
    if request.endpoint not in OFTEN | ONCE or response.status_code != 200 or "font" in (response.mimetype or ""):
        return response
    response.vary.add("Accept-Encoding")
    if request.accept_encodings.quality("gzip") <= 0 or (response.content_length or WORTH_IT) < WORTH_IT:
        return response
    response.direct_passthrough = False
    content = response.get_data()
    is_script = request.path.endswith(".js")  # what ends in .mjs is read by people, or has another licence
    response.set_data(_kept(content, is_script) if request.endpoint in OFTEN else _packed(content, 4))
    response.headers["Content-Encoding"] = "gzip"
    etag, _ = response.get_etag()
    if etag:
        response.set_etag(etag, weak=True)
    return response


@functools.lru_cache(64)
def _kept(content: bytes, is_script: bool) -> bytes:
    return _packed(shorten(content) if is_script else content, 9)


def shorten(script: bytes) -> bytes:
    """Return a script without comments, blank lines and indentation.

    Its strings may not go over several lines, and not hold what looks like a comment.
    """
    return INDENTATION.sub(b"", COMMENTS.sub(b"", script))


def _packed(content: bytes, effort: int) -> bytes:
    return gzip.compress(content, effort, mtime=0)
