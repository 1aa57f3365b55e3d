"""Invented city of 8 km x 6 km in the open Atlantic, on which studies were made."""

from __future__ import annotations

from typing import Final

import numpy as np

from sfumato.core.arrays import Bools, Floats
from sfumato.geo import City, Visits, city_visits

CENTRE: Final = (40.0, -30.0)
"""Latitude and longitude of its middle."""

_HALF_M: Final = (4000.0, 3000.0)  # half its width and half its height
_BAY: Final = (1400.0, -3000.0, 1500.0)  # a circle of water: metres east and north, radius


def _on_land(metres: Floats) -> Bools:
    inside = (np.abs(metres) < _HALF_M).all(axis=-1)
    bay = np.hypot(metres[..., 0] - _BAY[0], metres[..., 1] - _BAY[1]) < _BAY[2]
    return np.asarray(inside & ~bay)


_CITY: Final = City(
    CENTRE,
    (111_035.0, 85_394.0),
    (
        ("Old Town", -300.0, 200.0, 600.0, 0.30),
        ("Harbour", -2300.0, -1100.0, 500.0, 0.18),
        ("Northfield", 900.0, 1700.0, 650.0, 0.22),
        ("Eastgate", 2700.0, 300.0, 600.0, 0.20),
        ("Mill Hill", -2600.0, 1400.0, 550.0, 0.10),
    ),
    ((0.0, 0.0, 350.0, 0.5), (2200.0, -900.0, 300.0, 0.3), (-2400.0, -800.0, 250.0, 0.2)),
    (
        (-200.0, 400.0, 150.0, 0.30),
        (300.0, -300.0, 120.0, 0.20),
        (-2100.0, -1300.0, 120.0, 0.15),
        (1100.0, 1700.0, 150.0, 0.15),
        (2600.0, 500.0, 120.0, 0.10),
        (0.0, 0.0, 2000.0, 0.10),  # elsewhere
    ),
    _on_land,
    "an invented city",
)


def invented_city(*, seed: int = 7, users: int = 200, days: int = 28) -> Visits:
    """Return the visits of people in the invented city; see `sfumato.synthetic_city`."""
    return city_visits(_CITY, seed, users, days)
