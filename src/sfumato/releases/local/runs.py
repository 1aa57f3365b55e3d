"""The run in a work folder: where that is, what the run is made from, and whether one may go on or begin anew."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from ...core.hidden import hidden_name
from ...errors import FileError, InputError, argument

RUN: Final = "run.json"
"""The file in a work folder that says what its run is made from; without it no run goes on there."""

_SUFFIX: Final = ".release"


def work_folder(target: Path) -> Path:
    """Return the folder in which a release to a target is prepared."""
    return target.with_name(hidden_name(target.name, _SUFFIX))


def work_folders(folder: Path) -> Iterator[Path]:
    """Yield the work folders of all targets in a folder."""
    yield from sorted(folder.glob(f".*{_SUFFIX}"))


def facts_of(folder: Path) -> dict[str, str]:
    """Return what the release in a work folder is made from; nothing where none can go on there."""
    try:
        held = json.loads((folder / RUN).read_bytes())
        return {str(what): str(value) for what, value in held.items()}
    except (OSError, AttributeError, ValueError, RecursionError):
        return {}


def of_folder(folder: Path) -> dict[str, str]:
    """Return what tells a work folder from its copies, which would draw the same rows with one charge."""
    return {"folder": str(folder.stat().st_ino)}


def resumed(folder: Path, facts: Mapping[str, str], target: Path) -> tuple[str, int]:
    """Return the name of the run that goes on, and how often its source had been released before it."""
    try:
        before = json.loads((folder / RUN).read_bytes())
        run, times = str(before["run"]), int(before["before"])
    except (OSError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise FileError(
            f"the interrupted release to {str(target)!r} cannot be read ({error}).",
            f"start again without {argument('resume')}.",
        ) from None
    for what, now in facts.items():
        if before.get(what) != now:
            raise InputError(
                f"the interrupted release to {str(target)!r} had another {what}.",
                "resume it with what it was started with",
                f"leave out {argument('resume')} to start again.",
            )
    return run, times


def check_charged(folder: Path, facts: Mapping[str, str], target: Path) -> None:
    """Refuse to begin anew where users were charged for what can be gone on with."""
    before = facts_of(folder)
    if (
        facts["ledger"]
        and facts["source"]
        and before
        and all(before.get(what) == now for what, now in facts.items())
    ):
        raise InputError(
            f"an interrupted release to {str(target)!r} is there, for which users may have been charged.",
            f"go on with it with {argument('resume', True)}, which charges nobody twice for the same rows",
            f"pass {argument('again', True)} to charge for all rows once more.",
        )
