"""One person's design from their visits: what a design of these visits alone is, made ready in the worker."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from ...core import CoordinatePrivacy, Prior, units
from ...core.immutable import CompactRepr
from ...errors import DataError, InputError, argument
from ...geo import Lattice, Region, Visits
from ...geo.true_points import DISTANCES
from ...geo.vertices import KINDS
from ...optimal import check_lattice, suited_lattice
from .job import DesignJob, fingerprint_of


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PersonWishes(CompactRepr):
    """The wishes that are the same for everybody; see `design_each_user`.

    Attributes:
        promise: What is promised of any two points.
        spacing: The distance of neighbours on a lattice; None where it is chosen for each.
        kind: ``square`` or ``triangular``.
        region: What each lattice covers; None for what the person's visits cover.
        near: Serve only places this near to a visit of theirs.
        loss: ``euclidean`` or ``manhattan``.
        smoothing: Added to the number of visits of each vertex.
    """

    promise: CoordinatePrivacy
    spacing: float | str | None
    kind: Literal["square", "triangular"]
    region: Region | None
    near: float | str | None
    loss: str
    smoothing: float

    def check(self) -> None:
        """Refuse what would fail for everybody.

        Raises:
            InputError: If a wish makes no sense.
        """
        if self.loss not in DISTANCES:
            raise InputError(
                f"{argument('loss', self.loss)} is not a distance from the true point.",
                f"use {' or '.join(DISTANCES)}.",
            )
        if self.kind not in KINDS:
            raise InputError(f"{argument('lattice', self.kind)} is unknown.", f"use {' or '.join(KINDS)}.")
        if not (math.isfinite(self.smoothing) and self.smoothing >= 0):
            raise InputError(f"a smoothing of {self.smoothing:g} makes no sense.", "use 0, or a small number.")
        for name, length in (("spacing", self.spacing), ("near", self.near)):
            metres = 1.0 if length is None else units.length_m(length, f"the length of {argument(name)}")
            if not (math.isfinite(metres) and metres > 0):
                raise InputError(f"{argument(name, str(length))} is not positive.", "use a length: '500 m'.")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PersonJob(CompactRepr):
    """A design for one person, before its lattice is laid.

    Attributes:
        name: Whose it is.
        visits: Where they were.
        wishes: What is the same for everybody.
        options: The other arguments of `design`.
        threads: Worker threads of the solver.
    """

    name: str
    visits: Visits
    wishes: PersonWishes
    options: Mapping[str, Any]
    threads: int

    @property
    def request(self) -> str:
        """A fingerprint of all that the design depends on, the number of threads left out."""
        promise = self.wishes.promise
        wishes = {each: value for each, value in asdict(self.wishes).items() if each != "promise"}
        texts = [
            promise.epsilon,
            promise.unit,
            promise.slack_m,
            sorted(wishes.items()),
            sorted(self.options.items()),
        ]
        return fingerprint_of(texts, [self.visits.lat, self.visits.lon])

    def prepared(self) -> DesignJob:
        """Return it with its lattice, prior and loss.

        Raises:
            InputError: If no lattice can be laid over their visits.
        """
        wishes, visits = self.wishes, self.visits
        near = wishes.near
        if wishes.spacing is None:
            lattice = suited_lattice(
                visits, wishes.promise, kind=wishes.kind, region=wishes.region, near=near
            ).lattice
        else:
            lattice = Lattice.covering(visits, wishes.spacing, kind=wishes.kind, region=wishes.region, near=near)
        check_lattice(lattice, self.options["time_limit"])
        prior = Prior.from_visits(lattice, visits, smoothing=wishes.smoothing)
        used = visits.select(lattice.inside(visits.lat, visits.lon))
        costs = lattice.loss(visits, wishes.loss)
        medians = used if wishes.loss == "euclidean" else None
        return DesignJob(self.name, prior, costs, (wishes.promise,), medians, self.options, self.threads)


def visits_by_user(visits: Visits) -> Iterator[tuple[str, Visits]]:
    """Yield each user's name as a text and their visits, places alone, in the order of first visits.

    Raises:
        DataError: If no visit names its user, or two users have one name.
    """
    rows: dict[Any, list[int]] = {}
    for row, user in enumerate(() if visits.user is None else visits.user.tolist()):
        if user is not None and user != "":
            rows.setdefault(user, []).append(row)
    if not rows:
        raise DataError(
            "the visits have no user column.",
            f"name it with {argument('read_visits.user', 'column')}",
            f"state who is a person with {argument('people', 'file')} (or folder, or one).",
        )
    names = {user: str(user) for user in rows}
    if len(set(names.values())) < len(names):
        twice = next(name for name in names.values() if list(names.values()).count(name) > 1)
        raise DataError(f"two users are written {twice!r}.", "give each user one name of one type.")
    for user, theirs in rows.items():
        found = np.array(theirs)
        yield names[user], Visits(visits.lat[found], visits.lon[found], polar=True)
