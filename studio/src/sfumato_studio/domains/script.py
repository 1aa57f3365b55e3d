"""Scripts that make a mechanism of the studio again, with its report."""

from __future__ import annotations

from typing import Final

RUN: Final = "python script.py"
"""The command that runs such a script, under the name that it is downloaded by."""


def design_lines(guarantees: str, gap: float, options: str = "") -> str:
    """Return the lines of an optimized design, which need `prior` and `loss`."""
    return f"""design = sf.design(
    prior, loss=loss, guarantees=[{guarantees}], {options}gap={gap!r}, tie_break=False
)
print(design)"""


def script_text(lines: str, made: str, *, optimized: bool, source: str, visits: str | None) -> str:
    """Return a script.

    Args:
        lines: The lines that define `prior`, `loss` and `guarantee`.
        made: The lines that define `design`, or `mechanism` in closed form.
        optimized: Whether it is a design.
        source: The origin of the data, in words.
        visits: The name of the visits whose true places the report counts from; None for none.
    """
    file = f"MechanismFile{'.of_design(design)' if optimized else '(mechanism, prior, loss, guarantee)'}"
    option = "" if visits is None else f", visits={visits}"
    return f'''"""Makes a mechanism again that was chosen in the studio of sfumato, and its report."""

from pathlib import Path

import sfumato as sf
from sfumato.files import MechanismFile
from sfumato.reports.document import Origin, report

{lines}
{made}
file = {file}
sf.save(file, "mechanism.sfm")
origin = Origin(Path("mechanism.sfm"), source={source!r}, designed={RUN!r})
page = report(file{option}, origin=origin)
page.save("report.html")
page.save("report.json")
'''
