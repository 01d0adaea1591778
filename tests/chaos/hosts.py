"""Several hosts on one machine: network namespaces connected by a bridge, each of which can be cut off.

The servers run in the namespace of the test, where the bridge is; processes of the service run on the hosts.
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

CUT_S = (3.0, 8.0)  # seconds that a host is cut off


class Host(Struct, frozen=True):
    """A namespace, its address, and the end of its cable at the bridge."""

    name: str
    address: str
    cable: str

    @property
    def command_prefix(self) -> tuple[str, ...]:
        """The words before a command that runs on this host."""
        return "ip", "netns", "exec", self.name

    def cut_off(self) -> None:
        """Disconnect its cable for a while: packets are lost without an error."""
        run_ip("link", "set", self.cable, "down")
        try:
            time.sleep(random.uniform(*CUT_S))
        finally:
            run_ip("link", "set", self.cable, "up")


class Network(Struct, frozen=True):
    """The address of the bridge, and the hosts connected to it."""

    address: str
    hosts: Sequence[Host]


def run_ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextmanager
def build_network(number: int) -> Iterator[Network]:
    """Build a network of so many hosts, in a block of addresses for tests, and remove it afterwards."""
    if os.geteuid() or not shutil.which("ip"):
        raise Unavailable("network namespace", "be root, and: apt-get install iproute2")
    mark, block = secrets.token_hex(2), f"198.18.{random.randrange(256)}"  # RFC 2544: reserved for measurements
    bridge = f"dep{mark}"
    hosts = [Host(f"{bridge}h{one}", f"{block}.{one + 2}", f"{bridge}c{one}") for one in range(number)]
    try:
        try:
            run_ip("link", "add", bridge, "type", "bridge")
        except subprocess.CalledProcessError as error:
            raise Unavailable("network namespace", error.stderr.decode().strrun_ip()) from None
        run_ip("addr", "add", f"{block}.1/24", "dev", bridge)
        run_ip("link", "set", bridge, "up")
        for host in hosts:
            _connect(host, bridge)
        yield Network(f"{block}.1", hosts)
    finally:
        for host in hosts:
            subprocess.run(["ip", "netns", "del", host.name], capture_output=True)
        subprocess.run(["ip", "link", "del", bridge], capture_output=True)


def _connect(host: Host, bridge: str) -> None:
    """Create the host and connect it to the bridge by a cable."""
    run_ip("netns", "add", host.name)
    run_ip("link", "add", host.cable, "type", "veth", "peer", "name", "eth0", "netns", host.name)
    run_ip("link", "set", host.cable, "master", bridge, "up")
    inside = ("-n", host.name)
    run_ip(*inside, "addr", "add", f"{host.address}/24", "dev", "eth0")
    for device in ("lo", "eth0"):
        run_ip(*inside, "link", "set", device, "up")
