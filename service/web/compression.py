"""Answers that are made smaller on their way: pictures, styles, scripts, and the frames of a replay.

Only what holds no secret beside what somebody else could choose: pages with forms go out as they are, because the
length of a compressed page tells something of what stands in it.
"""

from __future__ import annotations

import functools
import gzip

from flask import Response, request

OFTEN = frozenset(("static", "lobby.picture"))
ONCE = frozenset(("table.then", "replay.frame", "replay.protocol", "replay.log"))
WORTH_IT = 1_000


def compress(response: Response) -> Response:
    """The same answer, compressed, where that is allowed, understood and worth it."""
    if request.endpoint not in OFTEN | ONCE or response.status_code != 200 or "font" in (response.mimetype or ""):
        return response
    response.vary.add("Accept-Encoding")
    if request.accept_encodings.quality("gzip") <= 0 or (response.content_length or WORTH_IT) < WORTH_IT:
        return response
    response.direct_passthrough = False
    content = response.get_data()
    response.set_data(_kept(content) if request.endpoint in OFTEN else _packed(content, 4))
    response.headers["Content-Encoding"] = "gzip"
    etag, _ = response.get_etag()
    if etag:
        response.set_etag(etag, weak=True)
    return response


@functools.lru_cache(64)
def _kept(content: bytes) -> bytes:
    return _packed(content, 9)


def _packed(content: bytes, effort: int) -> bytes:
    return gzip.compress(content, effort, mtime=0)
