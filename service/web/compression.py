"""Compression of answers, by brotli where the client reads it, else by gzip.

For a page of 87 kB brotli at quality 5 takes 0.84 ms of processor time and gives 9.5 kB; gzip at level 5 takes 0.71 ms
and gives 11.0 kB; zstd, which fewer browsers read, takes 0.70 ms for 9.9 kB.
"""

from __future__ import annotations

import functools
import gzip
import io
import re
import secrets
from collections.abc import Callable
from typing import Any

from flask import Response, make_response, request
from werkzeug.datastructures import Accept
from werkzeug.http import parse_accept_header

from service.web import static_files

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
ENCODINGS = ("br", "gzip")  # the best first
BROTLI_QUALITY, GZIP_LEVEL = 5, 5
BROTLI_BEST, GZIP_BEST = 11, 9  # for files, which are compressed once
MAX_NOISE_BYTES = 100
# The first bits of a block of metadata in brotli, the lowest first: 0, because it is not the last block; 11 for
# metadata; 0, which is reserved; 01, because its length has one byte. Its length less one follows.
METADATA_BITS, METADATA_BIT_COUNT = 0b01_0_11_0, 6
View = Callable[..., Any]


def compress_view(view: View) -> View:
    """Return a view whose answers are compressed as `compress` does."""

    @functools.wraps(view)
    def call(**arguments: Any) -> Response:
        return compress(make_response(view(**arguments)))

    return call


def compress(response: Response) -> Response:
    """Compress an answer as its client prefers; fonts, errors and short answers stay as they are.

    Styles and scripts lose their comments first, and pages with secrets get noise.
    """
    endpoint = request.endpoint
    is_font = "font" in (response.mimetype or "")  # fonts are compressed already
    if is_font or response.status_code != 200:
        return response
    response.vary.add("Accept-Encoding")
    size = response.content_length or MIN_COMPRESSED_BYTES  # an unknown length counts as enough
    encoding = choose_encoding(request.headers.get("Accept-Encoding", ""))
    if not encoding or size < MIN_COMPRESSED_BYTES:
        return response
    response.direct_passthrough = False
    content = response.get_data()
    if endpoint in NOISY_ENDPOINTS:
        response.set_data(compress_with_noise(content, encoding))
    elif endpoint in FILE_ENDPOINTS:
        response.set_data(_compress_file(content, encoding, request.path.rpartition(".")[2]))
    else:
        response.set_data(compress_content(content, encoding))
    response.headers["Content-Encoding"] = encoding
    etag, _ = response.get_etag()
    if etag:
        response.set_etag(etag, weak=True)  # its bytes depend on the encoding
    return response


@functools.lru_cache(64)
def _compress_file(content: bytes, encoding: str, ending: str) -> bytes:
    """Shorten and compress a file; the results for the last files are cached."""
    if ending in SHORTEN:
        content = SHORTEN[ending](content)
    return compress_content(content, encoding, best=True)


def shorten_style(style: bytes) -> bytes:
    """Return a style without comments and without layout; its strings may hold no braces and no semicolons."""
    without_comments = STYLE_COMMENTS.sub(b"", style)
    # found[1] is a brace or a semicolon, which stays without the spaces around it; other line breaks become a space.
    return STYLE_LAYOUT.sub(lambda found: found[1] or b" ", without_comments)


def shorten_script(script: bytes) -> bytes:
    """Return a script without comments and without layout.

    Its strings may not go over several lines, and not hold what looks like a comment.
    """
    return SCRIPT_LAYOUT.sub(b"", SCRIPT_COMMENTS.sub(b"", script))


# By the endings of files; those that end in .mjs stay whole: people read them, or their licence must stay in them.
SHORTEN = {"js": shorten_script, "css": shorten_style}


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
    """Compress by gzip, with the name of a file in the header."""
    file = io.BytesIO()
    with gzip.GzipFile(filename=name, mode="wb", compresslevel=GZIP_LEVEL, fileobj=file, mtime=0) as zipping:
        zipping.write(content)
    return file.getvalue()


def _add_metadata(content: bytes, noise: bytes) -> bytes:
    """Compress by brotli, with a block of metadata before the end (RFC 7932, section 9.2)."""
    import brotli

    compressor = brotli.Compressor(brotli.MODE_TEXT, BROTLI_QUALITY)
    start: bytes = compressor.process(content) + compressor.flush()  # ends at a whole byte
    header = METADATA_BITS | (len(noise) - 1) << METADATA_BIT_COUNT  # the length less one is behind the first bits
    end: bytes = compressor.finish()
    return start + header.to_bytes(2, "little") + noise + end
