"""An audit of a mechanism file or a matrix: read, planned, and measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import DataError, InputError, SfumatoError

if TYPE_CHECKING:
    from ...audits import Audit, AuditPlan, Request
    from ...files import MechanismFile, Yardstick
    from .drawn import FiguresAsked
    from .given import Given


def mechanism_from(path: Path) -> MechanismFile:
    """Return what a mechanism file holds, or the mechanism of a matrix or table alone."""
    from ...files import MechanismFile, read_matrix, read_mechanism_file

    if path.suffix.lower() == ".sfm":
        return read_mechanism_file(path)
    try:
        return MechanismFile(read_matrix(path))
    except (DataError, InputError) as error:
        raise _what_it_is(path, error) from error


def _what_it_is(path: Path, error: SfumatoError) -> SfumatoError:
    """Return a better error where the file is a table of another kind, else the same one."""
    from ...geo.formats.columns import recognised
    from ...tables import read_columns

    try:
        names = read_columns(path, ()).column_names
    except DataError:
        return error
    if {"secret", "output"} <= set(names):
        return DataError(
            f"{path.name} looks like samples (columns {', '.join(names)}), not like a matrix of probabilities.",
            "add --samples.",
        )
    try:
        # A matrix may well have columns x and y.
        rest = [name for name in names if name.strip().lower() not in ("x", "y")]
        recognised(rest, path.name, {})
    except DataError:
        return error
    return DataError(
        f"{path.name} looks like a table of places (columns {', '.join(names)}). audit needs a mechanism: a file "
        "from sfumato design, or a matrix with a row of probabilities for each secret.",
        f"make one first, of rows that need no protection: sfumato design {path.name} -o mine.sfm, then sfumato "
        "audit mine.sfm.",
    )


def plan(held: MechanismFile, given: Given, also: Iterable[Request]) -> tuple[AuditPlan, Yardstick]:
    """Return what will be measured, by which distances; what cannot be is refused before anything is proved."""
    from ...audits import AuditInputs, planned
    from ...files import Yardstick, measured_by

    space = held.report_channel.secrets
    metric = given.metric_on(space)
    by = Yardstick(metric)
    if given.metric is None and given.distances is None:
        by = measured_by(held.report_channel, held.guarantees)
        if by.metric is not None:
            metric = by.metric if given.unit is None else by.metric.to(given.unit)
    if given.unit is not None and metric is None:
        raise InputError("--unit was given without distances.", "give --metric or --distances.")
    prior = given.prior_on(space, held.prior)
    inputs = AuditInputs(prior=prior, metric=metric, **given.tables(space), **given.numbers())
    return planned(held.mechanism, inputs, also), by


def audit_noise(held: MechanismFile, given: Given, also: Iterable[Request]) -> Audit:
    """Prove the promise of noise for coordinates, and measure what can be on cells."""
    from ...audits import audit
    from ..noise import coarse_of
    from ..screen import Screen

    prior = held.prior if given.prior is None else given.prior_on(coarse_of(held).cells)
    with Screen(stderr=True).status("Measuring every notion") as status:
        return audit(
            held.mechanism,
            prior=prior,
            also=list(also),
            progress=lambda entry: status.update(f"Measured: {entry.title}"),
            **given.numbers(),
        )


def audit_mechanism(plan: AuditPlan, by: Yardstick, figures: FiguresAsked | None) -> Audit:
    """Measure what was planned, and write figures of it if they are asked for."""
    from ..screen import Screen

    with Screen(stderr=True).status("Measuring every notion") as status:
        found = plan.measured(lambda entry: status.update(f"Measured: {entry.title}"))
    if figures is not None:
        figures.write(plan)
    return replace(found, notes=(*found.notes, by.note)) if by.note else found
