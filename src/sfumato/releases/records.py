"""Records of releases, hidden next to their targets, against releasing a source twice by mistake.

A record has a line for each release, also of replaced tables; beyond a mebibyte the oldest are dropped. Only the
owner can read it, because the hash of a small source can be found by trial. The record of the asking run, ``run``,
is skipped.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

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
    if history(source, target, run=run).reports <= known:
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


class History(NamedTuple):
    """Earlier releases of a source here: reports of each row, releases, and mechanisms ("" for lost records)."""

    reports: int
    releases: int
    mechanisms: frozenset[str]

    def is_of(self, mark: Mark) -> bool:
        """Return whether all releases are on record with the mechanisms of a mark."""
        return self.mechanisms <= {_fingerprint(mark)}


def history(source: Identity, target: Path, *, run: str = "") -> History:
    """Return the earlier releases of a source, or of some of its columns, to the target's folder."""
    parts = set(source.content.split())
    records = [record for _, record, _ in _same(source, target, run)]
    places = sum({record.run: record.places for record in records}.values())
    reports = max([places, *(each.times for each in records if set(each.content.split()) <= parts)])
    mechanisms = {record.mechanism for record in records} | ({""} if reports > places else set())
    return History(reports, len({record.run for record in records}) + reports - places, frozenset(mechanisms))


def keep_record(source: Identity, target: Path, mark: Mark, run: str, places: int = 1) -> None:
    """Add a release to the record of its target, once for each run."""
    path = target.with_name(hidden_name(target.name, _SUFFIX))
    records = _read(path)[1]
    if any(record.run == run for record in records):
        return
    times = history(source, target, run=run).reports + places
    with atomically(path) as temporary:
        temporary.chmod(0o600)
        records = [*records, Record(source.content, times, run, _fingerprint(mark), places)]
        temporary.write_text(_text(target.name, records), encoding="utf-8")


def _fingerprint(mark: Mark) -> str:
    if len(mark.mechanisms) == 1:
        return mark.mechanisms[0]
    return hashlib.blake2b(mark.text.encode(), digest_size=20).hexdigest()


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
        for name, records in map(_read, sorted(target.parent.glob(f".*{_SUFFIX}")))
        for record in records
        if parts & set(record.content.split()) and record.run != run
    ]
    return sorted(records_of_source, key=lambda each: each[2])


def _read(path: Path) -> tuple[str, list[Record]]:
    """Return the target and the records in a file; none where it holds none."""
    try:
        if path.stat().st_size > 2 * _LARGEST:
            return "", []
        data = json.loads(path.read_bytes())
        return str(data["target"]), [_record(each) for each in data.get("releases", [data])]
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return "", []  # not a record


def _record(data: dict[str, Any]) -> Record:
    texts = str(data["run"]), str(data.get("mechanism", ""))
    return Record(str(data["content"]), int(data["times"]), *texts, int(data.get("places", 1)))
