"""Mechanisms in integers, and tuplings of them, made ready for batches."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core import JointSpace, Randomizer, Recipe, Row, Words
from ...core.arrays import Floats
from ...errors import InputError, argument
from ...geo import Hexagons, Lattice, Places
from ..columns import Labels, latlon_of, report_columns
from .labels import positions_in
from .reporter import Given, Reporter, Secrets

_LOOKED_AT: Final = 200  # places
_RADIUS_M: Final = 6_371_000.0


class MatrixReporter(Reporter):
    """A mechanism in integers, or a tupling of one."""

    def __init__(self, drawable: Randomizer, recipe: Recipe, row: Row) -> None:
        self.drawable = row.mechanism if recipe is row else drawable
        self.single = row.mechanism
        self._recipe = recipe
        self.rowwise = self._recipe.rowwise
        secrets = self.single.secrets
        self.given: Given = "places" if isinstance(secrets, Places) else "labels"
        self.moves = (
            secrets.convex_part is not None if isinstance(secrets, Lattice) else isinstance(secrets, Places)
        )
        observables = self.single.observables
        self._labels = Labels.of(observables)
        self.takes = len(secrets.parts) if isinstance(secrets, JointSpace) else 1
        self._latlon = latlon_of(observables)

    @property
    def where(self) -> str:
        """The secrets in words."""
        noun = "places" if self.given == "places" else "labels"
        return f"at any of the mechanism's {len(self.single.secrets):,} {noun}"

    @property
    def loss_m(self) -> float:
        """The mean distance from a place to its report, metres, over some hundred places at most."""
        places = self.single.secrets
        if not isinstance(places, Places) or self._latlon is None:
            return float("nan")
        chosen = np.linspace(0, len(places) - 1, min(len(places), _LOOKED_AT)).astype(np.intp)
        weights = self.single.weights[chosen].astype(np.float64)
        lat, lon = places.latlon[chosen].T[:, :, None]
        apart_m = _apart_m(lat, lon, *self._latlon.T[:, None, :])
        return float(np.average(apart_m, weights=weights))

    def at(self, lat: Floats, lon: Floats, words: Words, *, nearest: bool) -> Secrets:
        """Return the secrets of points; see `Reporter.at`."""
        places = self.single.secrets
        if not isinstance(places, Places):
            raise InputError(
                f"the mechanism's secrets ({places!r}) are not cells on the ground.",
                f"name the column that holds the secret with {argument('column', 'name')}.",
            )
        moved_m = None
        if nearest:
            north, east = places.nearest(lat, lon)
            moved = np.flatnonzero(np.isfinite(north) & np.isfinite(east) & ((north != lat) | (east != lon)))
            if moved.size:
                moved_m = np.zeros(len(lat))
                moved_m[moved] = _apart_m(lat[moved], lon[moved], north[moved], east[moved])
            lat, lon = north, east
        positions = places.drawn(lat, lon, words.draw)
        return Secrets(positions, positions >= 0, moved_m)

    def of(self, *columns: Any) -> Secrets:
        """Return the secrets of labels; see `Reporter.of`.

        Labels of a grid or lattice name a place only together with it: the same ones are elsewhere in another.
        """
        if self.given == "places" and not isinstance(self.single.secrets, Hexagons):
            raise InputError(
                f"the mechanism's secrets are places ({self.single.secrets!r}), and labels such as "
                f"{str(self.single.secrets.labels[0])!r} do not say where a row is.",
                f"leave out {argument('column')}, and name the columns of coordinates: {argument('lat', 'lat')}, "
                f"{argument('lon', 'lon')}.",
            )
        positions = positions_in(self.single.secrets, *columns)
        return Secrets(positions, positions >= 0)

    def draw(self, secrets: NDArray[Any], words: Words) -> NDArray[Any]:
        """Return positions of observables, array (n,), of a tupling (n, k + 1)."""
        return self._recipe.draw(secrets, words)

    def columns(self, reports: NDArray[Any], *, lists: bool, dictionaries: bool) -> dict[str, Any]:
        """Return the columns ``latitude``, ``longitude`` and ``label``; see `Reporter.columns`."""
        return report_columns(self._labels, self._latlon, reports, lists=lists, dictionaries=dictionaries)

    def __repr__(self) -> str:
        return repr(self.drawable)


def _apart_m(lat: Floats, lon: Floats, there_lat: Floats, there_lon: Floats) -> Floats:
    """Return how far points are from others on a sphere, within .6 % of the distance on the ground; array (n,)."""
    north, north_there = np.radians(lat), np.radians(there_lat)
    across = np.radians(there_lon - lon)
    half = np.sin((north_there - north) / 2) ** 2 + np.cos(north) * np.cos(north_there) * np.sin(across / 2) ** 2
    found: Floats = 2 * _RADIUS_M * np.arcsin(np.sqrt(np.clip(half, 0, 1)))
    return found
