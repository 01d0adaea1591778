"""A beacon for tests: a key, rounds signed like drand's, and a real web server that publishes them."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from py_arkworks_bls12381 import G1Point, G2Point, Scalar

from engine.beacon import Beacon
from service.internet.beacon import DOMAIN

SECRET = Scalar.from_be_bytes_mod_order(hashlib.sha256(b"a beacon for tests").digest())
KEY = bytes((G2Point() * SECRET).to_compressed_bytes()).hex()
BEACON = Beacon(KEY, genesis=0, period=3)


def sign(number: int, secret: Scalar = SECRET) -> str:
    """Return the signature of a round."""
    message = hashlib.sha256(number.to_bytes(8, "big")).digest()
    return bytes((G1Point.hash_to_curve(message, DOMAIN) * secret).to_compressed_bytes()).hex()


class Server(ThreadingHTTPServer):
    """Publishes the rounds up to `newest`, and none while it is `down`."""

    newest = 0
    down = False
    requests = 0

    @property
    def setting(self) -> str:
        """The setting that names this beacon."""
        return f"http://127.0.0.1:{self.server_port}/chain {KEY} {BEACON.genesis} {BEACON.period}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.requests += 1
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
def run_beacon() -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
