"""``sfumato audit``: what a mechanism, samples or a function keep hidden, and which promises fail."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, final

import typer

from ..errors import InputError
from .console import print_summary, say
from .outputs import check_folder, check_outputs

if TYPE_CHECKING:
    from ..audits import Audit, Plan, Request
    from ..core import Metric, Space
    from ..files import MechanismFile

_ANY: Final = frozenset({"require", "metric", "distances", "unit", "delta", "output"})
_DUMMIES: Final = "a file with dummies"
_FITTING: Final = {
    "a mechanism": _ANY
    | {"file", "prior", "delta_at", "order", "measure", "events", "rivals", "relation", "family", "interventions"}
    | {"curve", "figures"},
    "--samples": _ANY | {"file", "samples", "columns", "bins", "prior", "delta_at", "measure", "failure"},
    "--function": _ANY | {"function", "secrets", "epsilon", "limit", "bins", "failure"},
    "--promises": frozenset({"file", "promises"}),
    _DUMMIES: frozenset({"file", "promises", "delta"}),
}
"""Which options go with what is audited."""


def audit(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(
            help="A mechanism file (.sfm), a matrix (.npy, .csv, .parquet), or with --samples a table."
        ),
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            help='What must hold, such as "epsilon <= 0.7/km" or "renyi-privacy(order=8) <= 1"; repeatable.'
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(help='Also measure this, such as inferential or "adversarial(epsilon=1)"; repeatable.'),
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="What epsilon counts per: euclidean, great-circle, absolute, hamming, ...")
    ] = None,
    distances: Annotated[
        Path | None, typer.Option(help="A file with the distances instead (.npy or .csv).")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="The unit of the metric.")] = None,
    prior: Annotated[
        str | None, typer.Option(help="'uniform', or a table with the columns secret and probability.")
    ] = None,
    relation: Annotated[
        Path | None,
        typer.Option(help="The pairs of secrets that must look alike: a table with the columns secret and other."),
    ] = None,
    events: Annotated[
        Path | None,
        typer.Option(
            help="The facts to hide: a table of event and secret, or of secret and value of an attribute."
        ),
    ] = None,
    rivals: Annotated[
        Path | None,
        typer.Option(help="Which of the --events must look alike: a table with the columns event and rival."),
    ] = None,
    family: Annotated[
        Path | None,
        typer.Option(help="Distributions that must look alike: a table of distribution, secret and probability."),
    ] = None,
    interventions: Annotated[
        Path | None,
        typer.Option(
            help="What secrets become when a record is set: a table of record, value, secret and becomes."
        ),
    ] = None,
    curve: Annotated[
        str | None,
        typer.Option(
            help="The trade-off curve to hold tests against: mu=1, epsilon=1, or a table of alpha and beta."
        ),
    ] = None,
    delta: Annotated[
        list[float] | None, typer.Option(help="Also the epsilon at this delta; repeatable. [default: 1e-6]")
    ] = None,
    delta_at: Annotated[
        list[float] | None, typer.Option(help="Also the delta at this epsilon; repeatable. [default: 0 and 1]")
    ] = None,
    order: Annotated[
        list[float] | None, typer.Option(help="The order of Rényi privacy, or inf; repeatable. [default: 2]")
    ] = None,
    samples: Annotated[
        bool, typer.Option("--samples", help="The file holds samples: secrets and reports.")
    ] = False,
    columns: Annotated[
        str, typer.Option(help="With --samples: the columns of the secrets and of the reports.")
    ] = "secret,output",
    bins: Annotated[
        int | None,
        typer.Option(min=2, help="With samples or a function whose reports are numbers: count them in N cells."),
    ] = None,
    function: Annotated[
        str | None, typer.Option(help="Call module:function with secrets, instead of reading a file.")
    ] = None,
    secrets: Annotated[
        str | None, typer.Option(help="With --function: the secrets, such as home,work or 0-9.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="With --function: the epsilon that it claims.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="With --function: the most calls.")] = 100_000,
    failure: Annotated[
        float, typer.Option(help="With samples or a function: the probability that a bound is wrong.")
    ] = 0.05,
    promises: Annotated[
        bool, typer.Option("--promises", help="Prove the file's promises and nothing else.")
    ] = False,
    figures: Annotated[Path | None, typer.Option(help="Write the figures to this folder.")] = None,
    output: Annotated[Path | None, typer.Option(help="Write all that was found to this JSON file.")] = None,
) -> None:
    """Audit a mechanism file, a matrix, samples, or a function.

    Nothing that a file claims of itself is believed, and nothing of how it was made is
    used. Exit code 0 if every promise and requirement holds, 1 if one fails, 3 if one is
    left undecided: samples can refute a requirement, but never prove it.
    """
    from ..audits import Request, Requirement
    from .found import print_found, print_verdicts, severity, write_found

    asked = [Requirement.parse(text) for text in require or []]
    also = [*(each.request for each in asked), *(Request.parse(text) for text in measure or [])]
    _check_options(context, file, function, samples=samples, promises=promises)
    if not 0 < failure < 1:
        raise InputError(f"--failure {failure:g} is not between 0 and 1.", "use 0.05 for 5 %.")
    check_outputs([output], [file])
    check_folder(figures)
    numbers = _Numbers(tuple(delta) if delta else None, tuple(delta_at or ()), tuple(order or ()))
    measured_by = _Measured(metric, distances, unit, prior)
    kept = True
    if function is not None:
        _check_shown(also)
        found, kept = _of_function(function, secrets, epsilon, measured_by, numbers, bins, failure, limit)
    elif file is not None and samples:
        found = _of_samples(file, columns, bins, measured_by, numbers, also, failure)
    else:
        held = _held(file)
        if held.tupling is not None:
            _check_fit(context, _DUMMIES, "is audited by its promises and --delta only")
        tables = _Tables(relation, events, rivals, family, interventions, curve)
        whole = not promises and held.tupling is None
        plan = _planned(held, measured_by, tables, numbers, also) if whole else None
        kept = _print_promises(held)
        if held.tupling is not None:
            raise typer.Exit(_of_tuples(held, kept, () if promises else numbers.deltas or (1e-6,)))
        if plan is None:
            raise typer.Exit(0 if kept and held.guarantees else 1)
        found = _of_mechanism(plan, figures)
    print_found(found)
    if output is not None:
        write_found(found, output)
    raise typer.Exit(max(print_verdicts(found, asked), 0 if kept else 1, key=severity))


@final
@dataclass(frozen=True, slots=True)
class _Numbers:
    """The numbers at which epsilon and delta are wanted; empty or None where none was given."""

    deltas: tuple[float, ...] | None
    delta_at: tuple[float, ...]
    orders: tuple[float, ...]

    def given(self, *names: str) -> dict[str, Any]:
        """Return those that were given, by the names of the audit's arguments."""
        found = {"deltas": self.deltas, "delta_at": self.delta_at, "orders": self.orders}
        return {name: found[name] for name in names if found[name]}


@final
@dataclass(frozen=True, slots=True)
class _Measured:
    """The options that say what distances and beliefs there are."""

    kind: str | None
    distances: Path | None
    unit: str | None
    prior: str | None

    def metric(self, space: Space) -> Metric | None:
        from .subjects import metric_from

        return metric_from(space, self.kind, self.distances, self.unit)


@final
@dataclass(frozen=True, slots=True)
class _Tables:
    """The files that say what must be hidden."""

    relation: Path | None
    events: Path | None
    rivals: Path | None
    family: Path | None
    interventions: Path | None
    curve: str | None

    def read(self, space: Space) -> dict[str, Any]:
        """Return what they hold, by the names of the audit's arguments."""
        from .knowledge import curve_from, facts_from, family_from, interventions_from, relation_from, rivals_from

        facts = None if self.events is None else facts_from(space, self.events)
        found: dict[str, Any] = {"events": None if facts is None else facts.events}
        if self.relation is not None:
            found["relation"] = relation_from(space, self.relation)
        if self.rivals is not None:
            found["rivals"] = rivals_from(facts, self.rivals)
        if self.family is not None:
            found["family"] = family_from(space, self.family)
        if self.interventions is not None:
            found["interventions"] = interventions_from(space, self.interventions)
        if self.curve is not None:
            found["curve"] = curve_from(self.curve)
        return found


def _check_options(
    context: typer.Context, file: Path | None, function: str | None, *, samples: bool, promises: bool
) -> None:
    """Check that every option that was given has a meaning for what is audited.

    Raises:
        InputError: If one has none, or there is nothing to audit.
    """
    if (file is None) == (function is None):
        raise InputError(
            "a file and --function were both given." if file else "nothing to audit was given.",
            "name one file, or a function with --function.",
        )
    what = (
        "--promises"
        if promises
        else "--function"
        if function is not None
        else "--samples"
        if samples
        else "a mechanism"
    )
    _check_fit(context, what)


def _check_fit(context: typer.Context, what: str, why: str = "") -> None:
    """Refuse an option that has no meaning for what is audited."""
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE" and name not in _FITTING[what]:
            option = max(parameter.opts, key=len)
            problem = f"but {what} {why}" if why else f"which has no meaning for {what}"
            raise InputError(f"{option} was given, {problem}.", f"leave {option} out.")


def _check_shown(also: Iterable[Request]) -> None:
    for request in also:
        if request.name not in ("epsilon", "differential-privacy", "metric-privacy"):
            raise InputError(f"calls of a function cannot show {request}.", "they can show epsilon.")


def _held(file: Path | None) -> MechanismFile:
    from .subjects import mechanism_from

    if file is None:
        raise InputError("no file was given.", "name one.")
    return mechanism_from(file)


def _print_promises(held: MechanismFile) -> bool:
    """Prove what the file promises; return whether nothing that it promises fails."""
    from ..core import Prior
    from ..evidence import prove
    from ..report import audited

    prior = held.prior or Prior.uniform(held.mechanism.secrets)  # metric privacy needs none
    epsilons, distortions = prove(held.mechanism, prior, held.guarantees)
    print_summary(audited(held, epsilons, distortions))
    return all(proof.holds for proof in epsilons) and all(proof.holds for proof in distortions)


def _of_tuples(held: MechanismFile, kept: bool, deltas: tuple[float, ...]) -> int:
    """Print what is proved of a file with dummies; return the exit code."""
    from .tuples import prove_tuples

    say("A tuple is made from one report and dummies: what is proved above of one report holds for it too.")
    proved = prove_tuples(held, deltas)
    return 0 if kept and proved and (deltas or held.guarantees or held.tuple_guarantees) else 1


def _planned(
    held: MechanismFile, by: _Measured, tables: _Tables, numbers: _Numbers, also: Iterable[Request]
) -> Plan:
    """Return what will be measured: whatever cannot be is refused before anything is proved."""
    from ..audits import AtHand, planned
    from ..core import MetricPrivacy
    from .subjects import prior_from

    space = held.mechanism.secrets
    metric = by.metric(space)
    promised = [promise.metric for promise in held.guarantees if isinstance(promise, MetricPrivacy)]
    if promised and by.kind is None and by.distances is None:
        metric = promised[0] if by.unit is None else promised[0].to(by.unit)
    if by.unit is not None and metric is None:
        raise InputError("--unit was given without distances.", "give --metric or --distances.")
    hand = AtHand(
        prior=prior_from(space, by.prior, held.prior),
        metric=metric,
        **tables.read(space),
        **numbers.given("deltas", "delta_at", "orders"),
    )
    return planned(held.mechanism, hand, also)


def _of_mechanism(plan: Plan, figures: Path | None) -> Audit:
    from .screen import Screen

    with Screen(stderr=True).status("Measuring every notion") as status:
        found = plan.measured(lambda entry: status.update(f"Measured: {entry.title}"))
    if figures is not None:
        from ..report import save_audit_figures

        for path in save_audit_figures(plan.mechanism, figures, prior=plan.hand.prior, metric=plan.hand.metric):
            say(f"Wrote {path}", err=True)
    return found


def _of_samples(
    file: Path,
    columns: str,
    bins: int | None,
    by: _Measured,
    numbers: _Numbers,
    also: Iterable[Request],
    failure: float,
) -> Audit:
    from ..audits import audit as measured
    from .subjects import prior_from, sample_from

    sample = sample_from(file, columns, bins)
    return measured(
        sample,
        metric=by.metric(sample.secrets),
        prior=prior_from(sample.secrets, by.prior, None),
        **numbers.given("deltas", "delta_at"),
        also=also,
        failure=failure,
    )


def _of_function(
    name: str,
    secrets: str | None,
    epsilon: str | None,
    by: _Measured,
    numbers: _Numbers,
    bins: int | None,
    failure: float,
    limit: int,
) -> tuple[Audit, bool]:
    from ..audits import audit_black_box
    from ..core import Space
    from .functions import function_from
    from .subjects import labels_from

    if secrets is None or epsilon is None:
        raise InputError("--function needs --secrets and --epsilon.", "say which secrets to try, and the claim.")
    deltas = numbers.deltas or (0.0,)
    if len(deltas) > 1:
        raise InputError("--delta was given more than once for a function.", "give the one delta that it claims.")
    labels = labels_from(secrets)
    found = audit_black_box(
        function_from(name, numbers=bins is not None),
        labels,
        epsilon,
        metric=by.metric(Space(labels)),
        delta=deltas[0],
        failure=failure,
        limit=limit,
        cells=bins,
    )
    return found.audit, not found.refuted
