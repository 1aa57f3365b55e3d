"""The colours of figures, for light paper and for dark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...core.immutable import CompactRepr

ON_MAP: Final = ("#fefefe", "#010101")
"""Marks on a coloured map, and the rims around them: the same in light and in dark, as the map is."""


@dataclass(frozen=True, slots=True, repr=False)
class Theme(CompactRepr):
    """Colours that belong together, as ``#rrggbb``."""

    ink: str
    paper: str
    muted: str  # text and lines of second rank
    grid: str
    land: str
    water: str
    series: tuple[str, ...]  # eight that differ for any colour vision

    @property
    def colours(self) -> dict[str, str]:
        """Each colour by its name in style sheets: ``ink``, ..., ``series-1``, ..., ``series-8``."""
        single = {name: getattr(self, name) for name in ("ink", "paper", "muted", "grid", "land", "water")}
        return single | {f"series-{i}": colour for i, colour in enumerate(self.series, 1)}


LIGHT: Final = Theme(
    ink="#1a1a1a",
    paper="#ffffff",
    muted="#595959",
    grid="#dedede",
    land="#efece4",
    water="#c4dcec",
    series=("#0072b2", "#d55e00", "#45a76c", "#620034", "#8096a5", "#34008e", "#123fff", "#7f1a00"),
)

DARK: Final = Theme(
    ink="#ececec",
    paper="#15181d",
    muted="#a8adb5",
    grid="#343942",
    land="#23272e",
    water="#1b3547",
    series=("#4aa3df", "#f28e4b", "#2e875a", "#ef9eab", "#ffffcd", "#8e5ffb", "#90ffff", "#f9e343"),
)
