"""``sfumato audit-samples`` and ``sfumato audit-function``: audits from samples, which prove nothing."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ...errors import DataError, InputError, row_value
from ..audit_knowledge import AuditOptions, Knowledge
from ..options import Failure, options_of
from ..outputs import check_outputs

if TYPE_CHECKING:
    from ...statistics import Sample

Bins = Annotated[int | None, typer.Option(min=2, help="Count reports that are numbers in this many bins.")]

_FORM: Final = "write module:function, such as noise:blur."
_NEED: Final = "name a function that takes one secret and returns one report."


@dataclass(frozen=True, kw_only=True)
class SampleOptions(Knowledge):
    """The options of ``sfumato audit-samples``."""

    samples: Annotated[Path, typer.Argument(help="A table of secrets and their reports (.csv, .parquet).")]
    columns: Annotated[str, typer.Option(help="The columns of secrets and reports.")] = "secret,output"
    bins: Bins = None
    failure: Failure = 0.05


@options_of(SampleOptions)
def command(options: SampleOptions) -> None:
    """Audit samples of a mechanism: secrets and their reports.

    Samples can refute a requirement, but never prove it.
    Exit code 1 if a requirement fails, 3 if one is undecided.
    """
    from ...audits import audit
    from ...statistics.binomial import check_failure
    from ..audit_output import finish

    requirements, also = options.requirements(), options.requests()
    check_failure(options.failure)
    check_outputs([options.output], [options.samples])
    sample = _sample(options.samples, options.columns, options.bins)
    prior, metric = options.prior_on(sample.secrets), options.metric_on(sample.secrets)
    result = audit(sample, metric=metric, prior=prior, **options.numbers(), also=also, failure=options.failure)
    finish(result, options.output, requirements, file=options.samples)


@dataclass(frozen=True, kw_only=True)
class FunctionOptions(AuditOptions):
    """The options of ``sfumato audit-function``."""

    function: Annotated[str, typer.Argument(help="A Python function: module:function.")]
    secrets: Annotated[str, typer.Option(help="The secrets to call it with: home,work or 0-9.")]
    epsilon: Annotated[str, typer.Option(help="The epsilon that it claims.")]
    delta: Annotated[float, typer.Option(help="The delta that it claims.")] = 0.0
    bins: Bins = None
    limit: Annotated[int, typer.Option(min=1, help="Call the function at most this often.")] = 100_000
    failure: Failure = 0.05


@options_of(FunctionOptions)
def audit_function(options: FunctionOptions) -> None:
    """Audit a Python function by calling it.

    Calls can refute a claim, but never prove it.
    Exit code 1 if the claim or a requirement fails, 3 if one is undecided.
    """
    from ...audits import audit_black_box
    from ...core import Space
    from ..audit_output import finish

    requirements = options.requirements()
    check_outputs([options.output])
    for requirement in requirements:
        if requirement.request.name not in ("epsilon", "differential-privacy", "metric-privacy"):
            raise InputError(f"calls of a function cannot show {requirement.request}.", "they can show epsilon.")
    labels = _labels(options.secrets)
    result = audit_black_box(
        _function(options.function, numbers=options.bins is not None),
        labels,
        options.epsilon,
        metric=options.metric_on(Space(labels)),
        delta=options.delta,
        failure=options.failure,
        limit=options.limit,
        bins=options.bins,
    )
    finish(result.audit, options.output, requirements, violated=result.is_refuted)


def _sample(path: Path, columns: str, bins: int | None) -> Sample:
    from ...core import Space
    from ...statistics import Sample
    from ...tables import read_columns

    names = [name.strip() for name in columns.split(",") if name.strip()]
    if len(set(names)) != 2 or len(names) != 2:
        raise InputError(f"--columns {columns!r} does not name two columns.", "write it as secret,output.")
    secret, output = names
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
    return sorted(distinct, key=None if all(type(label) in (int, float) for label in distinct) else str)


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
    """Return the function that ``module:function`` names; its errors become InputError."""
    module, colon, function = (part.strip() for part in name.partition(":"))
    if not colon or not module or not function:
        raise InputError(f"{name!r} does not name a function.", _FORM)
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    target = _module(module)
    for part in function.split("."):
        if not hasattr(target, part):
            raise InputError(f"the module {module!r} has no {function!r}.", "check the function's name.")
        target = getattr(target, part)
    if not callable(target):
        raise InputError(f"{name!r} is not a function, but {_value_and_type(target)}.", _NEED)

    def run_target(secret: Any) -> Hashable:
        try:
            report = target(secret)
        except (Exception, SystemExit) as error:
            raise InputError(f"{name} failed for the secret {secret!r} ({_problem(error)}).", _NEED) from error
        return _report(report, name, secret, numbers=numbers)

    return run_target


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        why, hint = _problem(error), "make it importable in Python first."
        if isinstance(error, ModuleNotFoundError):
            why, hint = str(error), "check its name, and run the command in its folder."
        raise InputError(f"the module {name!r} cannot be imported ({why}).", hint) from error


def _report(report: Any, name: str, secret: Any, *, numbers: bool) -> Hashable:
    from ...statistics import as_label

    clause = f"{name} returned {_value_and_type(report)} for the secret {secret!r}"
    try:
        label = as_label(report)
    except (TypeError, ValueError):
        raise InputError(f"{clause}, which is not a report.", "let it return text, a number or a tuple.") from None
    parts = label if isinstance(label, tuple) else (label,)
    if numbers and not all(isinstance(part, int | float) for part in parts):
        raise InputError(
            f"{clause}, but --bins counts numbers.",
            "leave --bins out, or let it return a number or a tuple of them.",
        )
    return label


def _value_and_type(value: Any) -> str:
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"


def _problem(error: BaseException) -> str:
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
