from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

from launch.processes import Processes, free_port


class Backend(ABC):
    """A server that a run needs, private or external."""

    role: ClassVar[str]
    """Role under which its CPU and memory are counted."""
    is_external: ClassVar[bool] = False
    """Not started here, so that neither CPU nor memory can be measured."""

    @property
    @abstractmethod
    def environment(self) -> dict[str, str]:
        """Environment variables of the service."""

    def check(self) -> None:  # noqa: B027  an external server is checked when it is named
        """Raise RunFailed if it can't be started on this machine; nothing is started."""

    @abstractmethod
    def start(self) -> None:
        """Return when it answers, with nothing in it. Raises RunFailed."""

    @abstractmethod
    def version(self) -> str: ...


class Server(Backend):
    """A private server. How it is started is a ``Launcher``'s business."""

    binaries: ClassVar[tuple[str, ...]]
    """Names of the binary; the first that is installed is used."""
    kinds: ClassVar[tuple[str, ...]] = ()
    """Values of ``chosen_by`` for each of them."""
    chosen_by: ClassVar[str] = ""
    """The environment variable that chooses one of them."""
    package: ClassVar[str]
    """Debian package."""
    image: ClassVar[str]
    """Image of a container, the same as in compose."""
    image_port: ClassVar[int]
    """Port inside the container."""

    def __init__(self, processes: Processes, folder: Path, launch: "Launcher") -> None:
        self.processes = processes
        self.folder = folder
        self.launch = launch
        self.port = free_port()
        self.address = processes.address(self.role)

    @abstractmethod
    def is_ready(self) -> bool: ...

    def prepare(self, binary: str) -> None:
        """Prepare the first start of an installed binary."""

    @abstractmethod
    def command(self, binary: str) -> list[str]:
        """Return what starts an installed binary on ``port``, with its files in ``folder``."""

    def local_environment(self) -> dict[str, str]:
        """Return environment variables of an installed binary."""
        return {}

    def container_options(self) -> Sequence[str]:
        """Return the options of ``docker run`` beside name and port."""
        return ()

    def container_command(self) -> Sequence[str]:
        """Return what the container runs, where its image's own command isn't right."""
        return ()

    def check(self) -> None:
        self.launch.check(self)

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.launch.start(self)
        self.processes.wait_until(self.role, self.is_ready, within_s=60)
        self.after_start()

    def after_start(self) -> None:
        """Finish what needs the running server."""


class Launcher(NamedTuple):
    """One way to start servers."""

    start: Callable[[Server], None]
    """Starts a server's process, and raises RunFailed if it can't; it need not be ready yet."""
    check: Callable[[Server], object]
    """Raises RunFailed if it couldn't be started."""
