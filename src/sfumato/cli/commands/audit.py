"""``sfumato audit``: what a mechanism, samples or a function keep hidden, and which promises fail."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ...errors import InputError
from ..messages import check_failure, say
from ..options import Dark, Failure
from ..outputs import check_ending, check_outputs

if TYPE_CHECKING:
    from ...files import MechanismFile

_DELTA: Final = 1e-6
_ANY: Final = frozenset({"require", "metric", "distances", "unit", "delta", "output"})
_DUMMIES: Final = "a file with dummies"
_NOISE: Final = "noise for coordinates"
_FITTING: Final = {
    "a mechanism": _ANY
    | {"file", "prior", "delta_at", "order", "measure", "events", "rivals", "relation", "family", "interventions"}
    | {"curve", "figures", "figures_as", "dark"},
    "--samples": _ANY | {"file", "samples", "columns", "bins", "prior", "delta_at", "measure", "failure"},
    "--function": _ANY | {"function", "secrets", "epsilon", "limit", "bins", "failure"},
    "--promises": frozenset({"file", "promises"}),
    _DUMMIES: frozenset({"file", "promises", "delta", "family"}),
    _NOISE: frozenset({"file", "promises", "require", "measure", "prior", "delta", "delta_at", "order", "output"}),
}
"""Which options go with what is audited."""


def command(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(help="A mechanism file (.sfm), a matrix (.npy, .csv, .parquet), or a table of samples."),
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            help='A requirement, such as "epsilon <= 0.7/km" or "renyi-privacy(order=8) <= 1"; repeatable.'
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help='Also measure this notion, such as inferential or "adversarial(epsilon=1)"; repeatable.'
        ),
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="What epsilon counts per: euclidean, great-circle, absolute, hamming, ...")
    ] = None,
    distances: Annotated[
        Path | None, typer.Option(help="A file of distances instead of --metric (.npy or .csv).")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="The unit of the distances.")] = None,
    prior: Annotated[
        str | None,
        typer.Option(help="What the attacker knows: uniform, or a table with the columns secret and probability."),
    ] = None,
    relation: Annotated[
        Path | None,
        typer.Option(help="Pairs of secrets that must look alike: a table with the columns secret and other."),
    ] = None,
    events: Annotated[
        Path | None,
        typer.Option(help="Facts to hide: a table with the columns event and secret, or secret and value."),
    ] = None,
    rivals: Annotated[
        Path | None,
        typer.Option(help="Which --events must look alike: a table with the columns event and rival."),
    ] = None,
    family: Annotated[
        Path | None,
        typer.Option(help="Distributions that must look alike: a table of distribution, secret, probability."),
    ] = None,
    interventions: Annotated[
        Path | None,
        typer.Option(help="What secrets become when a record is set: a table of record, value, secret, becomes."),
    ] = None,
    curve: Annotated[
        str | None,
        typer.Option(
            help="The trade-off curve that no test may beat: mu=1, epsilon=1, or a table of alpha and beta."
        ),
    ] = None,
    delta: Annotated[
        list[float] | None, typer.Option(help="Measure epsilon at this delta; repeatable. [default: 1e-6]")
    ] = None,
    delta_at: Annotated[
        list[float] | None, typer.Option(help="Measure delta at this epsilon; repeatable. [default: 0 and 1]")
    ] = None,
    order: Annotated[
        list[float] | None,
        typer.Option(help="Measure Rényi privacy of this order, or inf; repeatable. [default: 2]"),
    ] = None,
    samples: Annotated[
        bool, typer.Option("--samples", help="The file is a table of samples: secrets and their reports.")
    ] = False,
    columns: Annotated[
        str, typer.Option(help="With --samples: the columns of secrets and reports.")
    ] = "secret,output",
    bins: Annotated[
        int | None,
        typer.Option(min=2, help="With --samples or --function: count reports that are numbers in N bins."),
    ] = None,
    function: Annotated[
        str | None, typer.Option(help="Audit a Python function, module:function, instead of a file.")
    ] = None,
    secrets: Annotated[
        str | None, typer.Option(help="With --function: the secrets to call it with, such as home,work or 0-9.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="With --function: the epsilon that it claims.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="With --function: call it at most this often.")] = 100_000,
    failure: Failure = 0.05,
    promises: Annotated[
        bool, typer.Option("--promises", help="Prove what the file promises, and measure nothing else.")
    ] = False,
    figures: Annotated[Path | None, typer.Option(help="Write figures to this folder.")] = None,
    figures_as: Annotated[str, typer.Option(help="With --figures: png, svg or pdf.")] = "png",
    dark: Dark = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write everything that was found (.json, or a page: .html)."),
    ] = None,
) -> None:
    """Audit a mechanism file, a matrix, samples, or a function.

    The audit trusts nothing that a file says about itself, and does not need to know how
    the mechanism was made. Exit code 0 if every promise, linear constraint and
    requirement holds, 1 if one fails, 3 if one is undecided: samples can refute a requirement, but never prove it.
    """
    from ...audits import Outcome, Request, Requirement
    from ...reports import summarise_noise
    from ...reports.document import ProvedPromises
    from ..audit_knowledge import Given, family_from
    from ..audit_output import figures_asked, finish
    from ..audit_subjects import audit_function, audit_mechanism, audit_noise, audit_samples, mechanism_from, plan
    from ..mechanism_files import exit_code, print_promises
    from ..screen import print_summary
    from .tuple import print_family

    asked = [Requirement.parse(text) for text in require or []]
    also = [*(each.request for each in asked), *(Request.parse(text) for text in measure or [])]
    _check_options(context, file, function, samples=samples, promises=promises)
    check_failure(failure)
    check_ending(output, ".json", page=True)
    check_outputs([output], [file])
    asked_figures = figures_asked(figures, figures_as, dark=dark)
    given = Given(
        metric=metric,
        distances=distances,
        unit=unit,
        prior=prior,
        delta=tuple(delta or ()),
        delta_at=tuple(delta_at or ()),
        order=tuple(order or ()),
        relation=relation,
        events=events,
        rivals=rivals,
        family=family,
        interventions=interventions,
        curve=curve,
    )
    proved, violated, stated = None, False, False
    if file is None:
        found, kept = audit_function(
            function or "", secrets, epsilon, given, also, bins=bins, failure=failure, limit=limit
        )
        violated = not kept
    elif samples:
        found = audit_samples(file, columns, bins, given, also, failure)
    else:
        held = mechanism_from(file)
        if not held.has_matrix:
            _check_fit(context, _NOISE, "is audited by its promise, and on cells")
            measured = None if promises else audit_noise(held, given, also)
            summary = summarise_noise(held)
            print_summary(summary)
            if measured is None:
                raise typer.Exit(0 if held.noise_proof.holds else 1)
            proved = ProvedPromises(summary, Outcome.HOLDS if held.noise_proof.holds else Outcome.FAILS)
            finish(measured, output, asked, file=file, proved=proved)
        if held.tupling is not None and (promises or not _others(context, _DUMMIES)):
            deltas = () if promises else given.delta or (_DELTA,)
            if family is not None:
                family_from(
                    held.tupling.secrets, family
                )  # a damaged table ends the audit before anything is printed
            code = exit_code(print_promises(held).worst)
            if family is not None:
                for each in deltas:
                    print_family(held.tupling, family, each)
            raise typer.Exit(code if _prove_tuples(held, deltas) else 1)
        if promises:
            worst = print_promises(held).worst
            raise typer.Exit(1 if worst is None else exit_code(worst))
        planned, by = plan(held, given, also)
        stated = by.stated
        proved = print_promises(held)
        violated = bool(held.tuple_guarantees) and not _prove_tuples(held, ())
        found = audit_mechanism(planned, by, asked_figures)
    finish(found, output, asked, file=file, proved=proved, violated=violated, stated=stated)


def _check_options(
    context: typer.Context, file: Path | None, function: str | None, *, samples: bool, promises: bool
) -> None:
    """Check that every option that was given has a meaning for what is audited.

    Raises:
        InputError: If one has none, or there is nothing to audit.
    """
    if (file is None) == (function is None):
        raise InputError(
            "a file and --function were both given." if file else "there is nothing to audit.",
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


def _others(context: typer.Context, what: str) -> list[str]:
    """Return the options that were given and have no meaning for what is audited."""
    found = []
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if source is not None and source.name == "COMMANDLINE" and parameter.name not in _FITTING[what]:
            found.append(max(parameter.opts, key=len))
    return found


def _check_fit(context: typer.Context, what: str, why: str = "") -> None:
    """Refuse an option that has no meaning for what is audited."""
    for option in _others(context, what):
        problem = f"but {what} {why}" if why else f"which has no meaning for {what}"
        asked = "to test a claim, use --require 'epsilon <= 0.7/km'" if option == "--epsilon" else ""
        raise InputError(f"{option} was given, {problem}.", f"leave {option} out.", asked)


def _prove_tuples(held: MechanismFile, deltas: tuple[float, ...]) -> bool:
    """Print what is proved of a file with dummies; return whether it promises something and keeps it."""
    from ..mechanism_files import prove_tuples

    say("A tuple is made from one report and dummies: what is proved of one report holds for it too.")
    proved = prove_tuples(held, deltas)
    if not (deltas or held.guarantees or held.tuple_guarantees or held.constraints):
        say("The file promises nothing: leave out --promises to see what its tuples hide.")
        return False
    return proved
