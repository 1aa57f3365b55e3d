"""Records of releases, hidden next to their targets, against releasing a source twice by mistake.

A record has a line for each release, also of replaced tables; beyond a mebibyte the oldest are dropped. Only the
owner can read it, because the hash of a small source can be found by trial. The record of the asking run, ``run``,
is skipped.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from .._system import atomically, hidden_name
from ..core.immutable import CompactRepr
from ..errors import InputError, argument
from .provenance import Mark
from .sources import Identity
from .work_folder import facts_of, is_locked, work_folder, work_folders

_SUFFIX: Final = ".released.json"
_LARGEST: Final = 1 << 20  # bytes of a record


@dataclass(frozen=True, slots=True, repr=False)
class Record(CompactRepr):
    """A finished release; ``times`` counts all releases of the source by then, each place of its rows counted."""

    content: str
    times: int
    run: str
    mechanism: str
    places: int = 1


def check_released(source: Identity, target: Path, *, run: str = "", known: int = 0) -> None:
    """Refuse a source with more than ``known`` releases in the target's folder, or one in progress there."""
    parts = set(source.content.split())  # one for each column
    for folder in work_folders(target.parent):  # before the records: one that ends meanwhile has left its record
        same = folder != work_folder(target) and parts & set(facts_of(folder).get("source", "").split())
        if same and is_locked(folder):  # asked last: a release that starts could meet the question
            raise InputError(
                f"another process is releasing this source into the same folder ({folder.name!r}). One more "
                "release draws every row once more, and the guarantees of both add up.",
                f"wait for it, and use its file, or pass {argument('again', True)} if this is what you want.",
            )
    if times_before(source, target, run=run) <= known:
        return
    name, record, newest = _same(source, target, run)[-1]
    if newest and facts_of(work_folder(target.with_name(name))).get("run") == record.run:
        hint = f"its release to {name!r} was interrupted: continue it with {argument('resume', True)}"
    else:
        hint = "use the file that is there" if newest and target.with_name(name).exists() else ""
    replaced = "" if newest else ", whose table was replaced since"
    raise InputError(
        f"this source was released before, to {name!r} in the same folder{replaced}. One more release draws every "
        "row once more, and the guarantees of both add up.",
        hint,
        f"pass {argument('again', True)} if one more is what you want.",
    )


def times_before(source: Identity, target: Path, *, run: str = "") -> int:
    """Return how often a source, or some of its columns, was released here, each place of a row counted."""
    parts = set(source.content.split())
    known = [record for _, record, _ in _same(source, target, run)]
    counted = [
        record.times for record in known if set(record.content.split()) <= parts
    ]  # also those that are gone
    return max([_places(known), *counted])


def releases_before(source: Identity, target: Path, *, run: str = "") -> int:
    """Return how many releases of a source were made here; lost records count once for each place."""
    records = [record for _, record, _ in _same(source, target, run)]
    return len({record.run for record in records}) + times_before(source, target, run=run) - _places(records)


def same_mechanism(source: Identity, target: Path, mark: Mark, *, run: str = "") -> bool:
    """Return whether all releases of a source to the target's folder are on record with the same mechanism."""
    records = [record for _, record, _ in _same(source, target, run)]
    complete = _places(records) == times_before(source, target, run=run)
    return complete and all(record.mechanism == _fingerprint(mark) for record in records)


def _places(records: Sequence[Record]) -> int:
    """Return the total number of places of each row over all releases."""
    return sum({record.run: record.places for record in records}.values())


def keep_record(source: Identity, target: Path, mark: Mark, run: str, places: int = 1) -> None:
    """Add a release to the record of its target, once for each run."""
    path = target.with_name(hidden_name(target.name, _SUFFIX))
    records = _read(path)[1]
    if any(record.run == run for record in records):
        return
    times = times_before(source, target, run=run) + places
    with atomically(path) as temporary:
        temporary.chmod(0o600)
        records = [*records, Record(source.content, times, run, _fingerprint(mark), places)]
        temporary.write_text(_text(target.name, records), encoding="utf-8")


def _fingerprint(mark: Mark) -> str:
    fingerprints = mark.mechanisms
    return (
        fingerprints[0]
        if len(fingerprints) == 1
        else hashlib.blake2b(mark.text.encode(), digest_size=20).hexdigest()
    )


def _text(name: str, records: Sequence[Record]) -> str:
    """Return the newest records that fit, at least one."""
    lines: list[str] = []
    room = _LARGEST - 1024
    for record in reversed(records):
        lines.insert(0, json.dumps(asdict(record)))
        room -= len(lines[0]) + 2
        if room < 0 and len(lines) > 1:
            del lines[0]
            break
    return f'{{"target": {json.dumps(name)}, "releases": [\n' + ",\n".join(lines) + "\n]}\n"


def _same(source: Identity, target: Path, run: str) -> list[tuple[str, Record, bool]]:
    """Return the releases of a source: target, record, and whether it is the target's newest."""
    parts = set(source.content.split())
    records_of_source = [
        (name, record, record is records[-1])
        for name, records in _records(target.parent)
        for record in records
        if parts & set(record.content.split()) and record.run != run
    ]
    return sorted(records_of_source, key=lambda each: each[2])


def _records(folder: Path) -> Iterator[tuple[str, list[Record]]]:
    for path in sorted(folder.glob(f".*{_SUFFIX}")):
        yield _read(path)


def _read(path: Path) -> tuple[str, list[Record]]:
    """Return the target and the records in a file; none where it holds none."""
    try:
        if path.stat().st_size > 2 * _LARGEST:
            return "", []
        data = json.loads(path.read_bytes())
        return str(data["target"]), [_record(each) for each in data.get("releases", [data])]
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return "", []  # not a record


def _record(held: dict[str, Any]) -> Record:
    texts = str(held["run"]), str(held.get("mechanism", ""))
    return Record(str(held["content"]), int(held["times"]), *texts, int(held.get("places", 1)))
