"""Words of the tables: what is attacked, by whom, and how near counts as found."""

from __future__ import annotations

from typing import Final

AS_DOCUMENTED: Final = "as documented"
REMEMBERED: Final = "certified, place remembered"
FRESH: Final = "certified, fresh each time"
NO_REPORT: Final = "no report"
MECHANISMS: Final = (AS_DOCUMENTED, REMEMBERED, FRESH)

ALONE: Final = "reports alone"
KNOWS: Final = "knows where people go"

REPORTS: Final = (1, 10, 100)
NEAR_M: Final = (50, 100, 200)
