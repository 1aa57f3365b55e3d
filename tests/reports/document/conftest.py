"""Small files of every kind, and the report of each."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.core import NumberBins
from sfumato.files import MechanismFile
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.reports.document import OtherDesigns, report
from sfumato_papers.invented_city import invented_city

CITY = invented_city(users=20, days=7)
REGION = "4 km x 3 km around 40,-30"
FEW = invented_city(users=5, days=3)
"""Visits for noise: its attackers look at every pair of places."""


@functools.cache
def held(kind: str) -> Any:
    """A file of each kind; each with a secret of probability zero and an unused report, where it can."""
    if kind == "noise":
        return MechanismFile.for_visits(CoordinateNoise.for_visits(FEW, "2/km", fineness=0.25), FEW)
    if kind in ("cells", "points"):
        return _of_places(kind)
    if kind == "numbers":
        space = sf.Space.numbers(range(5), unit="year")
        metric = space.metric("absolute")
        prior = sf.Prior(space, [0.4, 0.3, 0.2, 0.1, 0.0])
        made = sf.design(prior, loss=metric, guarantees=sf.MetricPrivacy("0.7/year", metric))
        return MechanismFile(made.mechanism, prior, metric, made.problem.guarantees, {}, made.optimality)
    if kind == "categories":
        space = sf.Space(["yes", "no", "never asked"])
        prior = sf.Prior(space, [0.7, 0.3, 0.0])
        coin = sf.mechanisms.randomised_response(space, 1.0)
        return MechanismFile(coin, prior, sf.hamming(space))
    if kind == "ranges":
        space = NumberBins(18, 5, 3, "year")
        made = sf.design(
            sf.Prior.uniform(space), loss=sf.hamming(space), guarantees=sf.MetricPrivacy(1.0, sf.hamming(space))
        )
        guarantees, prices = made.problem.guarantees, made.optimality
        return MechanismFile(made.mechanism, made.problem.prior, made.problem.loss, guarantees, {}, prices)
    if kind == "unused":
        space = sf.Space(["a", "b"])
        wide = sf.Mechanism([[0.75, 0.25, 0], [0.25, 0.75, 0]], space, sf.Space(["a", "b", "silence"]))
        return MechanismFile(
            wide, sf.Prior.uniform(space), None, sf.MetricPrivacy(np.log(3) * 1.001, sf.hamming(space))
        )
    if kind == "bare":
        return MechanismFile(sf.Mechanism([[0.5, 0.5], [0.1, 0.9]]))
    if kind == "truth":
        space = sf.Space(["a", "b", "c"])
        return MechanismFile(sf.Mechanism(np.eye(3), space, space), sf.Prior.uniform(space), sf.hamming(space))
    if kind == "broken":
        space = sf.Space(["a", "b"])
        mechanism = sf.Mechanism([[0.9, 0.1], [0.1, 0.9]], space, space)
        return MechanismFile(
            mechanism, sf.Prior.uniform(space), sf.hamming(space), sf.MetricPrivacy(1.0, sf.hamming(space))
        )
    if kind == "infinite":
        space = sf.Space(["a", "b"])
        mechanism = sf.Mechanism(np.eye(2), space, space)
        return MechanismFile(mechanism, sf.Prior.uniform(space), None, sf.MetricPrivacy(1.0, sf.hamming(space)))
    if kind == "one":
        space = sf.Space(["only"])
        return MechanismFile(sf.Mechanism([[1.0]], space, space), sf.Prior.uniform(space), None)
    if kind == "near":
        space = sf.Space.numbers(range(4), unit="km")
        metric = space.metric("absolute")
        promise = sf.ThresholdPrivacy(1.0, metric, "1 km")
        made = sf.design(sf.Prior.uniform(space), loss=metric, guarantees=promise)
        return MechanismFile(made.mechanism, made.problem.prior, metric, promise, {}, made.optimality)
    if kind == "error":
        space = sf.Space.numbers(range(4), unit="km")
        metric = space.metric("absolute")
        asked = sf.DistortionPrivacy("0.4 km", metric)
        made = sf.design(sf.Prior.uniform(space), loss=metric, guarantees=asked)
        return MechanismFile(made.mechanism, made.problem.prior, metric, asked, {}, made.optimality)
    raise ValueError(kind)


def _of_places(kind: str) -> MechanismFile:
    places: sf.Grid | sf.Lattice
    if kind == "cells":
        places = sf.Grid.covering(CITY, "1.5 km", region=REGION)
        metric = places.metric("euclidean", unit="km")
        promise: sf.MetricPrivacy | sf.CoordinatePrivacy = sf.MetricPrivacy("1/km", metric)
    else:
        places = sf.Lattice.covering(REGION, "1 km")
        promise = sf.CoordinatePrivacy("1/km")
    prior, loss = sf.Prior.from_visits(places, CITY), places.loss(CITY)
    made = sf.design(prior, loss=loss, guarantees=promise, gap=1e-3, method="table")
    return MechanismFile(made.mechanism, prior, made.problem.loss, made.problem.guarantees, {}, made.optimality)


KINDS = (
    "points",
    "cells",
    "noise",
    "numbers",
    "categories",
    "ranges",
    "unused",
    "bare",
    "truth",
    "broken",
    "infinite",
    "one",
    "near",
    "error",
)


def slowly(kinds, *more):
    """The kinds as parameters of a test; noise takes seconds, so its tests are slow ones."""
    return [
        pytest.param(
            (kind, *more) if more else kind,
            marks=pytest.mark.slow if kind == "noise" else (),
            id=_name(kind, more),
        )
        for kind in kinds
    ]


def _name(kind, more):
    return f"{kind}-visits" if more == (True,) else kind


@contextmanager
def without_drawings() -> Iterator[None]:
    """Leave maps and bars empty: to draw them takes longer than all the rest of a small report."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.reports.document.figures.as_svg", lambda *_, **__: "")
        yield


@without_drawings()
def report_without_drawings(*args: Any, **options: Any):
    return report(*args, **options)


def visits_of(kind: str) -> sf.Visits | None:
    """The visits for a file, where they mean something."""
    return {"points": CITY, "cells": CITY, "noise": FEW}.get(kind)


@functools.cache
def report_of(kind: str, *, visits: bool = False):
    """The report of a file without drawings; with the visits of the city where they mean something."""
    known = visits_of(kind)
    lines = ["within 0: at most 60 %"] if known is None else ["within 500 m: at most 30 %"]
    # Designs with other epsilons take seconds for noise, and for points once is enough.
    others = OtherDesigns(0) if kind == "noise" or (kind == "points" and not visits) else None
    return report_without_drawings(held(kind), visits=known if visits else None, require=lines, designs=others)
