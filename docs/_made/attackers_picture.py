"""The picture of docs/how-to/attackers.md, from the page's own blocks.

Run it in the folder of the repository: ``python -m docs._made.attackers_picture``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import sfumato as sf
from sfumato.reports import save_picture
from sfumato.reports.theme import LIGHT, blank

_DOCS: Final = Path(__file__).parents[1]
_BLUE, _RED = LIGHT.series[:2]


def main() -> None:
    """Run the blocks of the page and draw what they have found."""
    found: dict[str, Any] = {}
    text = (_DOCS / "how-to" / "attackers.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE):
        exec(block, found)  # noqa: S102 - the page's own code
    mech, d = found["mech"], found["d"]
    everybody, own = (sf.attacks.blind(found[name], d).error for name in ("prior", "own"))
    rows = [  # who, with a report, without one
        ("knows the population", found["population"].error.lower, found["population"].blind.lower),
        ("knows the person", found["person"].error.lower, found["person"].blind.lower),
        ("knows the population", sf.attacks.optimal(mech, found["prior"], d).error, everybody),
        ("... and sees 10 reports", found["after"].error[1], everybody),
        ("... and learns more half of the time", found["informed"].error, None),
        ("misinformed: has the city's prior", found["blind_faith"].error, None),
        ("knows the person", sf.attacks.optimal(mech, found["own"], d).error, own),
        ("no prior (at the worst vertex)", found["free"].worst_case_error, None),
    ]
    figure = blank(4.2, 4.0)
    axes = figure.add_subplot()
    heights = [0.0, 1.0, 3.2, 4.2, 5.2, 6.2, 7.2, 8.2]
    for (_, error, blind), y in zip(rows, heights, strict=True):
        if blind is not None:
            axes.plot([error, blind], [y, y], color=LIGHT.grid, lw=2, zorder=1)
            axes.plot(
                blind, y, "o", mfc=LIGHT.paper, mec=_RED, zorder=2, label="without a report" if not y else None
            )
        axes.plot(error, y, "o", color=_BLUE, zorder=3, label="with a report" if not y else None)
    heads = [-1.0, 2.2]
    names = ["from the true point, at least:", "from the vertex:", *(name for name, *_ in rows)]
    for tick in axes.set_yticks(heads + heights, names)[: len(heads)]:
        tick.tick1line.set_visible(False)
    axes.set_ylim(8.8, -1.5)
    axes.set_xlim(0, 2.8)
    axes.set_xlabel("average error, km")
    axes.grid(axis="y", visible=False)
    figure.legend(loc="outside upper right", ncols=2, frameon=False)
    save_picture(figure, _DOCS / "images" / "attackers.png")


if __name__ == "__main__":
    main()
