"""Scripts that make a design of the studio again, with its report."""

from __future__ import annotations

from typing import Final

RUN: Final = "python script.py"
"""The command that runs such a script, under the name that it is downloaded by."""


def script_text(lines: str, call: str, *, source: str, visits: str | None) -> str:
    """Return a script.

    Args:
        lines: What it needs: among others `prior`.
        call: The arguments of the design.
        source: Where the data come from, in words.
        visits: The name of the visits whose true places the report counts from; None for none.
    """
    given = "" if visits is None else f", visits={visits}"
    return f'''"""Makes a mechanism again that was designed in the studio of sfumato, and its report."""

from pathlib import Path

import sfumato as sf
from sfumato.files import MechanismFile
from sfumato.reports.document import Origin, report

{lines}
design = sf.design(
{call}
)
print(design)
held = MechanismFile.of_design(design)
sf.save(held, "mechanism.sfm")
origin = Origin(Path("mechanism.sfm"), source={source!r}, designed={RUN!r})
found = report(held{given}, origin=origin)
found.save("report.html")
found.save("report.json")
'''
