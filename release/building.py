"""Build wheels and sdists twice, from two folders, and compare the bytes."""

from __future__ import annotations

import hashlib
import shutil
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from . import ROOT
from .running import ReleaseError, environment, run


@dataclass(frozen=True, slots=True)
class Artefacts:
    """What would be published.

    Attributes:
        wheel: The wheel, built from the sdist as an installer would.
        sdist: The source distribution.
        papers: The wheel and the sdist of the studies, likewise.
        studio: Those of the studio.
        epoch: The time in all, in seconds since 1970: that of the commit.
    """

    wheel: Path
    sdist: Path
    papers: tuple[Path, Path]
    studio: tuple[Path, Path]
    epoch: int

    @property
    def files(self) -> tuple[Path, ...]:
        """All, the wheel first."""
        return self.wheel, self.sdist, *self.papers, *self.studio


def sha256(path: Path) -> str:
    """Return the SHA-256 sum of a file, in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def build(target: Path) -> Artefacts:
    """Build into an empty folder, once from the working tree and once from the files of the last commit.

    The first wheel is built from the sdist, the second one from the sources. The builder is the hatchling of the
    lock file, and the times are those of the commit (``SOURCE_DATE_EPOCH``).

    Raises:
        ReleaseError: The bytes differ, such as where the working tree has changes that are not committed.
    """
    epoch = int(run(["git", "log", "-1", "--format=%ct"], ROOT))
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder) / "builder.txt"
        constraints.write_text(f"hatchling=={version('hatchling')}\n", encoding="utf-8")
        env = environment(SOURCE_DATE_EPOCH=str(epoch))
        how: list[str | Path] = [
            "uv",
            "build",
            "--quiet",
            "--python",
            sys.executable,
            "--no-create-gitignore",
            "--build-constraints",
            constraints,
        ]
        commands = [how, *([*how, "--package", f"sfumato-{name}"] for name in ("papers", "studio"))]
        for command in commands:
            run([*command, "--out-dir", target], ROOT, env)
        committed, second = Path(folder) / "committed", Path(folder) / "second"
        run(["git", "archive", "--output", f"{committed}.tar", "HEAD"], ROOT)
        with tarfile.open(f"{committed}.tar") as archive:
            archive.extractall(committed, filter="data")
        for command in commands:
            run([*command, "--wheel", "--sdist", "--out-dir", second], committed, env)
        if differences := compared(target, second):
            changed = run(["git", "status", "--short"], ROOT).strip() or "nothing"
            raise ReleaseError(
                f"two builds differ: {'; '.join(differences)}. Not committed: {changed}. Commit or remove that, "
                "or find out what in the build depends on the folder or the time."
            )
    (wheel,), (sdist,) = target.glob("sfumato-*.whl"), target.glob("sfumato-*.tar.gz")
    papers, studio = ((companion(wheel, name), companion(sdist, name)) for name in ("papers", "studio"))
    return Artefacts(wheel, sdist, papers, studio, epoch)


def companion(path: Path, name: str) -> Path:
    """Return the wheel or sdist of the papers or the studio next to that of the library."""
    return path.with_name(path.name.replace("sfumato-", f"sfumato_{name}-", 1))


def compared(one: Path, other: Path) -> list[str]:
    """Return a line for each file that is not in both folders with the same bytes."""
    sums = [{path.name: sha256(path) for path in folder.iterdir()} for folder in (one, other)]
    lines = [f"{name} is built once only" for name in sorted(sums[0].keys() ^ sums[1].keys())]
    common = sorted(sums[0].keys() & sums[1].keys())
    return lines + [f"{name} has other bytes" for name in common if sums[0][name] != sums[1][name]]


def write_sums(folder: Path) -> Path:
    """Write the SHA-256 sums of all files of a folder as ``sha256sum --check`` reads them."""
    target = folder / "SHA256SUMS"
    files = sorted(path for path in folder.iterdir() if path != target)
    target.write_text("".join(f"{sha256(path)}  {path.name}\n" for path in files), encoding="utf-8")
    return target
