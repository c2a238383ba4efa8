"""Checks before anything starts, and what goes wrong with files, in one line each."""

import errno
import fcntl
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lab.running.machine import MORE_DISK, check_resources, warn_of_others
from lab.running.single_run import service_for
from launch.processes import Processes, RunFailed
from launch.variants import Variant


def check_folders(out: Path) -> None:
    """Make the folder of what is written.

    Raises OSError if nothing can be written there, Shortage if its disk is nearly full.
    """
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=out):
        check_resources(out)
    check_resources(Path(tempfile.gettempdir()))  # of the servers' files


def claim(out: Path) -> None:
    """Make the folder of results, and keep other runs out of it until this process ends.

    Says which other runs make load on this machine.
    """
    check_folders(out)
    try:
        fcntl.flock(os.open(out, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise RunFailed(f"another run writes into {out}: choose another --out DIR") from None
    warn_of_others()


def check_servers(variants: Sequence[Variant], choice: str) -> None:
    """Raise RunFailed if a server that a variant needs can't be started here."""
    with tempfile.TemporaryDirectory(prefix="lab-") as scratch:
        processes = Processes(Path(scratch))
        for variant in variants:
            service = service_for(variant)(variant, processes, Path(scratch), servers=choice)
            try:
                for server in service.servers:
                    server.check()
            except RunFailed as error:
                raise RunFailed(f"{variant.name} can't run here: {error}") from None


def as_line(error: Exception) -> str:
    """Return what is wrong and, if a file or a disk is, what to do."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        disk = f"the disk of {error.filename}" if error.filename else "a disk"
        return f"no space is left on {disk}: {MORE_DISK}"
    if not isinstance(error, OSError) or error.errno is None or error.filename is None:
        return str(error)
    return f"{error.filename} can't be used ({error.strerror}): choose another folder or file"
