"""The file of a report, and how the report is made again: command and script."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import final

from ... import __version__
from ...core.immutable import CompactRepr
from ...escaping import plain
from ...files import MechanismFile
from ...ledgers import fingerprint
from ..facts import FileFacts


@final
@dataclass(frozen=True, slots=True, repr=False)
class Origin(CompactRepr):
    """The files and options that a report is made from."""

    file: Path | None = None
    visits: Path | None = None
    sweep: Path | None = None
    require: tuple[str, ...] = ()  # as written
    source: str = ""  # of the prior, in words
    user: str = ""  # whose visits count
    outline: Path | None = None
    designed: str = ""  # the command that made mechanism and report
    frontier_time: float | None = None  # seconds for other designs
    typed: str = ""  # the command that made the report from the file
    skip_damaged: bool = False


def file_facts(held: MechanismFile | None, origin: Origin, when: datetime | None = None) -> FileFacts:
    """Return the hash of a file, when a report of it is written, and how to write it again."""
    name, digest, size, mark = "", "", 0, ""
    if origin.file is not None:
        content = Path(origin.file).read_bytes()
        name, digest, size = plain(Path(origin.file).name), sha256(content).hexdigest(), len(content)
        if held is not None:
            mark = fingerprint(held.mechanism).hex()
    stated = () if held is None else held.stated
    return FileFacts(
        name,
        digest,
        size,
        mark,
        __version__,
        (when or datetime.now(UTC)).isoformat(timespec="seconds"),
        _command(origin),
        _script(origin),
        () if held is None else tuple(plain(name)[:60] for name in sorted(held.claims)[:20]),
        tuple(map(plain, stated)),
    )


def _command(origin: Origin) -> str:
    """Return the command that writes the report again; "" without a file."""
    if origin.designed or origin.typed:
        return plain(origin.designed or origin.typed)
    if origin.file is None:
        return ""
    parts: list[str] = ["sfumato", "report", str(origin.file)]
    for option, value in _options(origin):
        parts += [f"--{option}", str(value)]
    parts += ["--skip-damaged"] if origin.skip_damaged else []
    for text in origin.require:
        parts += ["--require", text]
    if origin.frontier_time is not None:
        parts += ["--frontier-time", f"{origin.frontier_time:g}"]
    if origin.source:
        parts += ["--source", origin.source]
    return plain(" ".join(shlex.quote(part) for part in [*parts, "-o", "report.html"]))


def _script(origin: Origin) -> str:
    """Return a program that writes the report again; "" without a file."""
    if origin.designed:
        return f"import subprocess\n\nsubprocess.run({_listed(shlex.split(origin.designed))}, check=True)\n"
    if origin.file is None:
        return ""
    given = [f"    file={_quoted(origin.file)},"]
    given += [f"    {name}={_quoted(value)}," for name, value in _options(origin)]
    given += ["    skip_damaged=True,"] if origin.skip_damaged else []
    given += [] if origin.frontier_time is None else [f"    frontier_time={origin.frontier_time:g},"]
    given += [f"    require={_listed(origin.require)},"] if origin.require else []
    given += [f"    source={_quoted(origin.source)},"] if origin.source else []
    lines = [
        "from sfumato.reports.document import report_file",
        "",
        "found = report_file(",
        *given,
        ")",
        'found.save("report.html")',
        'found.save("report.json")',
    ]
    return "\n".join(lines) + "\n"


def _options(origin: Origin) -> list[tuple[str, object]]:
    """Return the options that were given, by their names."""
    every = {"visits": origin.visits, "sweep": origin.sweep, "user": origin.user, "outline": origin.outline}
    return [(name, value) for name, value in every.items() if value]


def _quoted(value: object) -> str:
    return ascii(str(value))


def _listed(values: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, values))}]"
