"""Reports of designs as jobs: the page to sign, and its JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from sfumato._system import atomically
from sfumato.files import read_mechanism_file
from sfumato.reports.document import Origin, OtherDesigns, report
from sfumato.reports.maps import outline_of

from ..domains import PlacesDomain
from ..domains.domain import RUN
from ..errors import RefusedError
from . import Work

_TABLE: Final = "frontier.csv"
_SECONDS: Final = 20.0  # for other designs, if there are no levels yet
_AGAIN: Final = (
    f"Made in the studio. The script that the studio gives for this design makes mechanism and report again "
    f"({RUN}), the maps without an outline and without the designs of the studio's levels."
)


def make_report(work: Work) -> dict[str, Any]:
    """Write the report of a design as a page and as JSON."""
    domain, request = work.domain(), work.request
    designs, name = work.folder / "designs", request["design"]
    outline = request.get("outline")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "mechanism.sfm"  # the name under which it is downloaded
        try:
            file.write_bytes((designs / f"{name}.sfm").read_bytes())
        except FileNotFoundError:
            raise RefusedError(404, "The design was deleted.", "load the page again.", "design") from None
        page = report(
            read_mechanism_file(file),
            visits=domain.visits if isinstance(domain, PlacesDomain) else None,
            sweep=_table(Path(folder) / _TABLE, request["levels"], in_km=isinstance(domain, PlacesDomain)),
            designs=OtherDesigns(_SECONDS),
            origin=Origin(file, source=domain.source, designed=RUN),
            remarks=[_AGAIN, *request["remarks"]],
            outline=None if outline is None else outline_of(json.dumps(outline), "the outline"),
        )
    for ending, text in ((".json", page.json()), (".html", page.html())):
        with atomically(designs / f"{request['file']}{ending}") as temporary:
            temporary.write_text(text, encoding="utf-8")
    return {"design": name}


def _table(path: Path, rows: Iterable[Mapping[str, float]], *, in_km: bool) -> Path | None:
    """Write other designs as a sweep does, with lengths in kilometres; None where there are none."""
    lines = [f"{row['epsilon']!r},{row['loss'] / (1000 if in_km else 1)!r}" for row in rows]
    if not lines:
        return None
    path.write_text("\n".join(["epsilon,loss", *lines]) + "\n", encoding="utf-8")
    return path
