"""Cached reports of designs, made in worker processes."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import defaultdict
from contextlib import suppress
from typing import Final

from sfumato._version import __version__

from .errors import RefusedError
from .levels import shown_at
from .limits import JOBS_RUNNING, REPORT_SECONDS
from .processes import done_apart
from .state import Studio
from .store import Row

_ROOM: Final = threading.BoundedSemaphore(JOBS_RUNNING)
_AT_WORK: Final[defaultdict[str, threading.Lock]] = defaultdict(threading.Lock)


def made_report(studio: Studio, workspace: Row, row: Row, ending: str) -> bytes:
    """Return a file of a design's report, which is made where it is not there."""
    design = row["id"]
    orders = _orders(studio, workspace, row)
    path = studio.file(workspace["id"], design, ".sfm").with_name(f"{orders['request']['file']}{ending}")
    with suppress(OSError):
        return path.read_bytes()
    if not _ROOM.acquire(blocking=False):
        raise RefusedError(429, f"{JOBS_RUNNING} reports are being made already.", "try again in a minute.")
    try:
        with _AT_WORK[design]:
            if not path.is_file():
                _made(studio, orders)
            return path.read_bytes()
    except OSError:  # it was dropped at this moment
        _check_kept(studio, workspace["id"], design)
        changed = "What the report shows was changed while it was made."
        raise RefusedError(409, changed, "ask for it again.", "design") from None
    finally:
        _ROOM.release()


def _made(studio: Studio, orders: Row) -> None:
    """Make a report, and drop those of the same design that show something else."""
    workspace, design = orders["workspace"], orders["request"]["design"]
    late = RefusedError(422, "The report took too long.", "choose fewer places.")
    try:
        done_apart(orders, REPORT_SECONDS, late, studio.apart)
    finally:
        _check_kept(studio, workspace, design)
    studio.store.drop_reports(workspace, design, but=orders["request"]["file"])


def _check_kept(studio: Studio, workspace: str, design: str) -> None:
    """Delete the files of a design that was deleted in the meantime; `RefusedError` if so."""
    try:
        studio.store.design(workspace, design)
    except RefusedError:
        studio.store.delete_design(workspace, design)
        raise RefusedError(404, "The design was deleted.", "load the page again.", "design") from None


def _orders(studio: Studio, workspace: Row, row: Row) -> Row:
    facts = row["facts"]
    domain, rows = studio.domain(workspace), studio.store.designs(workspace["id"])
    shown_rows = (shown_at(domain, level, rows) for level in range(len(domain.epsilons)))
    others = [each for each in shown_rows if each is not None and each["id"] != row["id"]]
    outline = workspace["outline"]
    shown = json.dumps([__version__, outline, [each["id"] for each in others]], sort_keys=True)
    request = {
        "design": row["id"],
        "file": f"{row['id']}.{hashlib.sha256(shown.encode()).hexdigest()[:16]}",
        "outline": outline,
        "levels": [{"epsilon": each["facts"]["proved"], "loss": each["facts"]["loss"][2]} for each in others],
        "remarks": [] if facts["finished"] else [facts["status"]],
    }
    return studio.store.orders(workspace, "report", request) | {"workspace": workspace["id"]}
