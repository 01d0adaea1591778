"""A beacon of our own for tests: a key of its own, rounds signed like drand's, and a real web server that has them."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from py_arkworks_bls12381 import G1Point, G2Point, Scalar

from engine.beacon import Beacon
from service.beacon import DOMAIN

SECRET = Scalar.from_be_bytes_mod_order(hashlib.sha256(b"a beacon for tests").digest())
KEY = bytes((G2Point() * SECRET).to_compressed_bytes()).hex()
BEACON = Beacon(KEY, genesis=0, period=3)


def sign(number: int, secret: Scalar = SECRET) -> str:
    """The signature of a round."""
    message = hashlib.sha256(number.to_bytes(8, "big")).digest()
    return bytes((G1Point.hash_to_curve(message, DOMAIN) * secret).to_compressed_bytes()).hex()


class Server(ThreadingHTTPServer):
    """What it has, it tells: rounds up to `newest`; nothing at all while it is `down`."""

    newest = 0
    down = False
    asked = 0

    @property
    def setting(self) -> str:
        """The beacon as a host names it."""
        return f"http://127.0.0.1:{self.server_port}/chain {KEY} {BEACON.genesis} {BEACON.period}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked += 1
        number = int(self.path.rpartition("/")[2])
        if self.server.down or number > self.server.newest:
            self.send_error(503 if self.server.down else 404)
            return
        body = json.dumps({"round": number, "randomness": "", "signature": sign(number)}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def running() -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
