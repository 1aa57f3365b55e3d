"""The record of a release, hidden beside its target: the same source is not released twice by mistake.

It is readable by its owner only, because a hash of a small source can be found out by trying; it is never to be
published.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from ...core.atomic import atomically
from ...core.frozen import Short
from ...errors import InputError, argument
from ..marks import Mark
from .sources import Identity

_SUFFIX: Final = ".released.json"
_LARGEST: Final = 1 << 20


@dataclass(frozen=True, slots=True, repr=False)
class Record(Short):
    """A release that was made.

    Attributes:
        target: The name of the released file.
        content: What the source was known by.
        times: How often that source had been released by then.
        run: The name of the run, random.
        mechanisms: The fingerprints of the mechanisms.
    """

    target: str
    content: str
    times: int
    run: str
    mechanisms: tuple[str, ...]


def times_before(source: Identity, target: Path, *, again: bool, run: str = "") -> int:
    """Return how often a source was released to the target's folder before.

    Args:
        source: What the source is known by.
        target: The file to write.
        again: Whether the caller wants one more release of it.
        run: The run that asks: its own record does not count.

    Raises:
        InputError: If it was, and they do not.
    """
    same = [record for record in _records(target.parent) if record.content == source.content]
    known = [record for record in same if record.run != run]
    if not known:
        return 0
    if not again:
        raise InputError(
            f"this source was released before, to {known[0].target!r} in the same folder. One more release "
            "draws every "
            "row once more: both together tell as much as one with twice the epsilon.",
            f"use the file that is there, or pass {argument('again', True)} if this is what you want.",
        )
    return max(record.times for record in known)


def keep_record(source: Identity, target: Path, mark: Mark, times: int, run: str) -> None:
    """Write the record of a release, readable by its owner only.

    Args:
        source: What the source is known by.
        target: The file that is written.
        mark: The mark of the mechanisms.
        times: How often the source has been released now.
        run: The name of the run.
    """
    path = target.with_name(f".{target.name[:200]}{_SUFFIX}")
    record = Record(target.name, source.content, times, run, mark.mechanisms)
    with atomically(path) as temporary:
        temporary.chmod(0o600)
        temporary.write_text(json.dumps(asdict(record)), encoding="utf-8")


def _records(folder: Path) -> Iterator[Record]:
    for path in sorted(folder.glob(f".*{_SUFFIX}")):
        try:
            if path.stat().st_size > _LARGEST:
                continue
            found = json.loads(path.read_bytes())
            yield Record(
                str(found["target"]),
                str(found["content"]),
                int(found["times"]),
                str(found["run"]),
                tuple(map(str, found["mechanisms"])),
            )
        except (OSError, KeyError, TypeError, ValueError, RecursionError):
            continue  # not a record
