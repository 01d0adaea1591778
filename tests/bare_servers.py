"""A new Debian with its own init, as a host has it on the first day."""

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
READY_STATES = "running", "degraded"  # degraded: some units cannot run in a container


class BareServer:
    """A running Debian; commands run in it as root."""

    def __init__(self, root: Path, leader: int) -> None:
        self.root, self._leader = root, leader

    def run(self, script: str, environment: Mapping[str, str] = {}) -> str:
        """Run a shell script and return its output; raise Stopped at the first line that fails."""
        enter = ["nsenter", "--target", str(self._leader), "--all", "--root", "--wd", "bash", "-e"]
        variables = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            **environment,
        }
        variables |= {"DEBIAN_FRONTEND": "noninteractive"}
        done = subprocess.run(
            enter, input=script, env=variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        if done.returncode:
            raise Stopped(done.stdout[-4_000:])
        return done.stdout


@contextmanager
def run_bare_server(mounts: Sequence[tuple[Path, str]] = ()) -> Iterator[BareServer]:
    """Install and boot a Debian with these folders mounted, in the network of this machine."""
    if os.geteuid() or sys.platform != "linux":
        raise Unavailable("bare server", "be root on Linux")
    for program, package in {"debootstrap": "debootstrap", "systemd-nspawn": "systemd-container"}.items():
        if not shutil.which(program):
            raise Unavailable(program, f"apt-get install {package}")
    with TemporaryDirectory(prefix="bare-", dir="/var/tmp", ignore_cleanup_errors=True) as folder:
        root = Path(folder, "root")
        _install(root)
        binds = [f"--bind-ro={ours}:{theirs}" for ours, theirs in mounts]
        command = ["systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit", f"--directory={root}", *binds]
        with (
            Path(folder, "boot.log").open("wb") as log,
            subprocess.Popen(
                [*command, "--console=pipe"], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            ) as container,
        ):
            try:
                yield _boot(root, container, Path(log.name))
            finally:
                container.terminate()
                try:
                    container.wait(START_TIMEOUT_S)
                except subprocess.TimeoutExpired:
                    container.kill()


def _install(root: Path) -> None:
    """Install the smallest Debian that boots."""
    packages = "systemd,systemd-sysv,dbus,ca-certificates"
    debootstrap = subprocess.run(
        ["debootstrap", "--variant=minbase", f"--include={packages}", SUITE, str(root)], capture_output=True, text=True
    )
    if debootstrap.returncode:
        raise Unavailable(f"bare Debian ({debootstrap.stdout[-300:]})", "a network with Debian's packages")


def _boot(root: Path, container: subprocess.Popen[bytes], log: Path) -> BareServer:
    end = time.monotonic() + 2 * START_TIMEOUT_S
    while container.poll() is None and time.monotonic() < end:
        time.sleep(0.2)
        for leader in psutil.Process(container.pid).children():
            server = BareServer(root, leader.pid)
            try:
                if server.run("systemctl is-system-running || true").strip() in READY_STATES:
                    return server
            except Stopped:
                continue
    raise Stopped(log.read_text(errors="replace")[-2_000:])
