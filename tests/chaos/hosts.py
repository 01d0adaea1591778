"""Several hosts on one machine: network namespaces with a bridge between them, each of which can be cut off.

Our own namespace is the bridge's, and has the servers; processes of the house run on the others.
"""

import os
import random
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from tests.servers import Unavailable

CUT = (3.0, 8.0)  # seconds that a host is away


class Host(Struct, frozen=True):
    """A namespace, its address, and our end of its cable."""

    name: str
    address: str
    cable: str

    @property
    def enter(self) -> tuple[str, ...]:
        """What stands before a command that runs there."""
        return "ip", "netns", "exec", self.name

    def cut_off(self) -> None:
        """Its cable is pulled for a while: nobody is told, packets are just lost."""
        ip("link", "set", self.cable, "down")
        try:
            time.sleep(random.uniform(*CUT))
        finally:
            ip("link", "set", self.cable, "up")


class Network(Struct, frozen=True):
    """Our own address among the hosts, and they."""

    address: str
    hosts: Sequence[Host]


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextmanager
def network(number: int) -> Iterator[Network]:
    """A network of so many hosts, in a block of addresses for tests, and nothing of it left behind."""
    if os.geteuid() or not shutil.which("ip"):
        raise Unavailable("network namespace", "be root, and: apt-get install iproute2")
    mark, block = secrets.token_hex(2), f"198.18.{random.randrange(256)}"  # RFC 2544: for measurements, and nobody's
    bridge = f"dep{mark}"
    hosts = [Host(f"{bridge}h{one}", f"{block}.{one + 2}", f"{bridge}c{one}") for one in range(number)]
    try:
        try:
            ip("link", "add", bridge, "type", "bridge")
        except subprocess.CalledProcessError as error:
            raise Unavailable("network namespace", error.stderr.decode().strip()) from None
        ip("addr", "add", f"{block}.1/24", "dev", bridge)
        ip("link", "set", bridge, "up")
        for host in hosts:
            _joined(host, bridge)
        yield Network(f"{block}.1", hosts)
    finally:
        for host in hosts:
            subprocess.run(["ip", "netns", "del", host.name], capture_output=True)
        subprocess.run(["ip", "link", "del", bridge], capture_output=True)


def _joined(host: Host, bridge: str) -> None:
    """A cable from this host to the bridge."""
    ip("netns", "add", host.name)
    ip("link", "add", host.cable, "type", "veth", "peer", "name", "eth0", "netns", host.name)
    ip("link", "set", host.cable, "master", bridge, "up")
    inside = ("-n", host.name)
    ip(*inside, "addr", "add", f"{host.address}/24", "dev", "eth0")
    for device in ("lo", "eth0"):
        ip(*inside, "link", "set", device, "up")
