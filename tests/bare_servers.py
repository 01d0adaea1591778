"""A bare Debian with an init of its own, made for a test: what a host has on the first day."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from tests.servers import START_TIMEOUT_S, Stopped, Unavailable

SUITE = "bookworm"
BOOTED = "running", "degraded"  # a unit that a container cannot have does not matter


class BareServer:
    """A Debian that has booted; commands run in it as root."""

    def __init__(self, root: Path, leader: int) -> None:
        self.root, self._leader = root, leader

    def run(self, script: str, environment: Mapping[str, str] = {}) -> str:
        """What these lines of shell say; the first one that fails ends them, and the test."""
        enter = ["nsenter", "--target", str(self._leader), "--all", "--root", "--wd", "bash", "-e"]
        words = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", **environment}
        words |= {"DEBIAN_FRONTEND": "noninteractive"}
        done = subprocess.run(
            enter, input=script, env=words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        if done.returncode:
            raise Stopped(done.stdout[-4_000:])
        return done.stdout


@contextmanager
def bare_server(shown: Sequence[tuple[Path, str]] = ()) -> Iterator[BareServer]:
    """A new one, which sees these folders of ours; it has the network of this machine."""
    if os.geteuid() or sys.platform != "linux":
        raise Unavailable("bare server", "be root on Linux")
    for program, package in {"debootstrap": "debootstrap", "systemd-nspawn": "systemd-container"}.items():
        if not shutil.which(program):
            raise Unavailable(program, f"apt-get install {package}")
    with TemporaryDirectory(prefix="bare-", dir="/var/tmp", ignore_cleanup_errors=True) as folder:
        root = Path(folder, "root")
        _laid(root)
        binds = [f"--bind-ro={ours}:{theirs}" for ours, theirs in shown]
        command = ["systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit", f"--directory={root}", *binds]
        with (
            Path(folder, "boot.log").open("wb") as log,
            subprocess.Popen(
                [*command, "--console=pipe"], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            ) as container,
        ):
            try:
                yield _booted(root, container, Path(log.name))
            finally:
                container.terminate()
                try:
                    container.wait(START_TIMEOUT_S)
                except subprocess.TimeoutExpired:
                    container.kill()


def _laid(root: Path) -> None:
    """The smallest Debian that boots, as an installer leaves it."""
    wanted = "systemd,systemd-sysv,dbus,ca-certificates"
    made = subprocess.run(
        ["debootstrap", "--variant=minbase", f"--include={wanted}", SUITE, str(root)], capture_output=True, text=True
    )
    if made.returncode:
        raise Unavailable(f"bare Debian ({made.stdout[-300:]})", "a network with Debian's packages")


def _booted(root: Path, container: subprocess.Popen[bytes], log: Path) -> BareServer:
    end = time.monotonic() + 2 * START_TIMEOUT_S
    while container.poll() is None and time.monotonic() < end:
        time.sleep(0.2)
        for leader in psutil.Process(container.pid).children():
            server = BareServer(root, leader.pid)
            try:
                if server.run("systemctl is-system-running || true").strip() in BOOTED:
                    return server
            except Stopped:
                continue
    raise Stopped(log.read_text(errors="replace")[-2_000:])
