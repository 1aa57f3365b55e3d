"""Subjects of an audit: a mechanism file or a matrix, samples in a table, and a function that is called."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..errors import DataError, InputError, SfumatoError, row_value
from .progress import working

if TYPE_CHECKING:
    from ..audits import Audit, AuditPlan, Request
    from ..files import MechanismFile, Yardstick
    from ..statistics import Sample
    from .audit_knowledge import Given
    from .audit_output import FigureOutput

_FORM: Final = "write module:function, such as noise:blur."
_NEED: Final = "name a function that takes one secret and returns one report."


def mechanism_from(path: Path) -> MechanismFile:
    """Return what a mechanism file holds, or the mechanism of a matrix or table alone."""
    from ..files import MechanismFile, read_matrix, read_mechanism_file

    if path.suffix.lower() == ".sfm":
        return read_mechanism_file(path)
    try:
        return MechanismFile(read_matrix(path))
    except (DataError, InputError) as error:
        raise _explain_table(path, error) from error


def _explain_table(path: Path, error: SfumatoError) -> SfumatoError:
    """Return a better error where the file is a table of another kind, else the same one."""
    from ..geo import recognised
    from ..tables import read_columns

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
    from ..audits import AuditInputs, plan_audit
    from ..files import Yardstick, measured_by

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
    return plan_audit(held.mechanism, inputs, also), by


def audit_noise(held: MechanismFile, given: Given, also: Iterable[Request]) -> Audit:
    """Prove the promise of noise for coordinates, and measure what can be on cells."""
    from ..audits import audit
    from .mechanism_files import coarse_of

    prior = held.prior if given.prior is None else given.prior_on(coarse_of(held).cells)
    with working("Measuring every notion") as update:
        return audit(
            held.mechanism,
            prior=prior,
            also=list(also),
            progress=lambda entry: update(f"Measured: {entry.title}"),
            **given.numbers(),
        )


def audit_mechanism(plan: AuditPlan, by: Yardstick, figures: FigureOutput | None) -> Audit:
    """Measure what was planned, and write figures of it if they are asked for."""
    with working("Measuring every notion") as update:
        audit = plan.measure(lambda entry: update(f"Measured: {entry.title}"))
    if figures is not None:
        figures.write(plan)
    return replace(audit, notes=(*audit.notes, by.note)) if by.note else audit


def audit_samples(
    file: Path, columns: str, bins: int | None, given: Given, also: Iterable[Request], failure: float
) -> Audit:
    """Return what the samples in two columns of a CSV or Parquet file show."""
    from ..audits import audit

    sample = _sample(file, columns, bins)
    prior = given.prior_on(sample.secrets)
    metric = given.metric_on(sample.secrets)
    return audit(sample, metric=metric, prior=prior, **given.numbers(), also=also, failure=failure)


def _sample(path: Path, columns: str, bins: int | None) -> Sample:
    from ..core import Space
    from ..statistics import Sample
    from ..tables import read_columns

    named = [name.strip() for name in columns.split(",") if name.strip()]
    if len(set(named)) != 2 or len(named) != 2:
        raise InputError(f"--columns {columns!r} does not name two columns.", "write it as secret,output.")
    secret, output = named
    table = read_columns(path, (secret, output))
    if not table.num_rows:
        raise DataError(f"{str(path)!r} holds no samples.", "write a row per sample below the names.")
    space = Space(_in_order(table[secret].to_pylist()))
    if bins is None:
        return Sample.from_columns(table, secret, output, space=space)
    values = table[output].to_pylist()
    for row, value in enumerate(values, 1):
        if not isinstance(value, int | float):
            raise DataError(
                f"{path.name} has {row_value(repr(value), 'a value')} in row {row} of the column {output} "
                "that is not a number.",
                "leave --bins out.",
            )
    return Sample.of_values(table[secret].to_pylist(), values, bins, space=space)


def _in_order(labels: list[Any]) -> list[Any]:
    """Return the distinct labels, numbers by size and all else by its text."""
    try:
        distinct = list(dict.fromkeys(labels))
    except TypeError:
        raise DataError(
            "the column of the secrets holds lists or mappings.",
            "name a column of texts or numbers with --columns.",
        ) from None
    if all(type(label) in (int, float) for label in distinct):
        return sorted(distinct)
    return sorted(distinct, key=str)


def audit_function(
    name: str,
    secrets: str | None,
    epsilon: str | None,
    given: Given,
    also: Iterable[Request],
    *,
    bins: int | None,
    failure: float,
    limit: int,
) -> tuple[Audit, bool]:
    """Return what calls of a function show, and whether its claim stands."""
    from ..audits import audit_black_box
    from ..core import Space

    for request in also:
        if request.name not in ("epsilon", "differential-privacy", "metric-privacy"):
            raise InputError(f"calls of a function cannot show {request}.", "they can show epsilon.")
    if secrets is None or epsilon is None:
        raise InputError("--function needs --secrets and --epsilon.", "say which secrets to try, and the claim.")
    if len(given.delta) > 1:
        raise InputError("--delta was given more than once for a function.", "give the one delta that it claims.")
    labels = _labels(secrets)
    result = audit_black_box(
        _function(name, numbers=bins is not None),
        labels,
        epsilon,
        metric=given.metric_on(Space(labels)),
        delta=given.delta[0] if given.delta else 0.0,
        failure=failure,
        limit=limit,
        bins=bins,
    )
    return result.audit, not result.refuted


def _labels(text: str) -> list[str | int]:
    """Return the secrets of ``--secrets``: names between commas, or numbers such as ``0-9``."""
    first, dash, last = text.partition("-")
    if dash and first.strip().isdigit() and last.strip().isdigit():
        if int(last) <= int(first):
            raise InputError(f"{text!r} names fewer than two secrets.", "write a range upwards, such as 0-9.")
        return list(range(int(first), int(last) + 1))
    parts = [part.strip() for part in text.split(",") if part.strip()]
    labels: list[str | int] = [int(part) if part.lstrip("-").isdigit() else part for part in parts]
    if len(labels) < 2:
        raise InputError(f"{text!r} names {len(labels)} secrets.", "name at least two, such as home,work or 0-9.")
    return labels


def _function(name: str, *, numbers: bool) -> Callable[[Any], Hashable]:
    """Return the function that ``module:function`` names; modules in the present folder are found.

    Whatever goes wrong while it runs is said in one sentence.
    """
    module, colon, function = (part.strip() for part in name.partition(":"))
    if not colon or not module or not function:
        raise InputError(f"{name!r} does not name a function.", _FORM)
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    target = _attribute(_module(module), module, function)
    if not callable(target):
        raise InputError(f"{name!r} is not a function, but {_value_and_type(target)}.", _NEED)

    def guarded(secret: Any) -> Hashable:
        try:
            report = target(secret)
        except (Exception, SystemExit) as error:
            raise InputError(f"{name} failed for the secret {secret!r} ({_problem(error)}).", _NEED) from error
        return _report(report, name, secret, numbers=numbers)

    return guarded


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise InputError(
            f"the module {name!r} cannot be imported ({error}).",
            "check its name, and run the command in its folder.",
        ) from error
    except (Exception, SystemExit) as error:
        raise InputError(
            f"the module {name!r} cannot be imported ({_problem(error)}).",
            "make it importable in Python first.",
        ) from error


def _attribute(value: Any, module: str, path: str) -> Any:
    for part in path.split("."):
        if not hasattr(value, part):
            raise InputError(f"the module {module!r} has no {path!r}.", "check the function's name.")
        value = getattr(value, part)
    return value


def _report(report: Any, name: str, secret: Any, *, numbers: bool) -> Hashable:
    """Return a report as an audit can count it."""
    from ..statistics import as_label

    returned = f"{name} returned {_value_and_type(report)} for the secret {secret!r}"
    try:
        label = as_label(report)
        hash(label)
    except (TypeError, ValueError):
        raise InputError(
            f"{returned}, which is not a report.", "let it return text, a number or a tuple."
        ) from None
    parts = label if isinstance(label, tuple) else (label,)
    if numbers and not all(isinstance(part, int | float) for part in parts):
        raise InputError(
            f"{returned}, but --bins counts numbers.",
            "leave --bins out, or let it return a number or a tuple of them.",
        )
    return label


def _value_and_type(value: Any) -> str:
    shown = repr(value)
    return f"{shown if len(shown) <= 60 else shown[:57] + '...'} ({type(value).__name__})"


def _problem(error: BaseException) -> str:
    said = str(error).splitlines()
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__
