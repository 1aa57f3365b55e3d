"""Names of the study's tables."""

from __future__ import annotations

from typing import Final

NOISE: Final = "noise"
REPORTED: Final = "reports"
DRAWS: Final = "draws"
FLOATS: Final = "floats"
SENSITIVITIES: Final = "sensitivities"
JOINT: Final = "queries"
CHOICES: Final = "choices"
ODDS: Final = "odds"
