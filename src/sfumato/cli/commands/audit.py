"""``sfumato audit``: what a mechanism, samples or a function keep hidden, and which promises fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

import typer

from ...errors import InputError
from ..messages import PARTIAL, check_failure, say
from ..options import Failure
from ..outputs import check_ending, check_folder, check_outputs

if TYPE_CHECKING:
    from ...audits import Audit, Requirement
    from ...files import MechanismFile

_DELTA: Final = 1e-6
_ANY: Final = frozenset({"require", "metric", "distances", "unit", "delta", "output"})
_DUMMIES: Final = "a file with dummies"
_NOISE: Final = "noise for coordinates"
_FITTING: Final = {
    "a mechanism": _ANY
    | {"file", "prior", "delta_at", "order", "measure", "events", "rivals", "relation", "family", "interventions"}
    | {"curve", "figures"},
    "--samples": _ANY | {"file", "samples", "columns", "bins", "prior", "delta_at", "measure", "failure"},
    "--function": _ANY | {"function", "secrets", "epsilon", "limit", "bins", "failure"},
    "--promises": frozenset({"file", "promises"}),
    _DUMMIES: frozenset({"file", "promises", "delta"}),
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
    figures: Annotated[Path | None, typer.Option(help="Write figures (.png) to this folder.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write everything that was found (.json).")
    ] = None,
) -> None:
    """Audit a mechanism file, a matrix, samples, or a function.

    The audit trusts nothing that a file says about itself, and does not need to know how
    the mechanism was made. Exit code 0 if every promise and requirement holds, 1 if one
    fails, 3 if one is undecided: samples can refute a requirement, but never prove it.
    """
    from ...audits import Request, Requirement
    from ...files import NoiseFile
    from ...report import summarise_noise
    from ..auditing.functions import audit_function
    from ..auditing.given import Given
    from ..auditing.mechanisms import audit_mechanism, audit_noise_file, mechanism_from, plan
    from ..auditing.samples import audit_samples
    from ..promises import print_promises
    from ..screen import print_summary

    asked = [Requirement.parse(text) for text in require or []]
    also = [*(each.request for each in asked), *(Request.parse(text) for text in measure or [])]
    _check_options(context, file, function, samples=samples, promises=promises)
    check_failure(failure)
    check_ending(output, ".json")
    check_outputs([output], [file])
    check_folder(figures)
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
    kept = True
    if file is None:
        found, kept = audit_function(
            function or "", secrets, epsilon, given, also, bins=bins, failure=failure, limit=limit
        )
    elif samples:
        found = audit_samples(file, columns, bins, given, also, failure)
    else:
        held = mechanism_from(file)
        if isinstance(held, NoiseFile):
            _check_fit(context, _NOISE, "is audited by its promise, and on cells")
            measured = None if promises else audit_noise_file(held, given, also)
            print_summary(summarise_noise(held))
            if measured is None:
                raise typer.Exit(0 if held.proof.holds else 1)
            _finish(measured, output, asked, kept=held.proof.holds)
        if held.tupling is not None:
            _check_fit(context, _DUMMIES, "is audited by its promises and --delta only")
            deltas = () if promises else given.delta or (_DELTA,)
            kept = print_promises(held)
            raise typer.Exit(0 if _prove_tuples(held, deltas) and kept else 1)
        if promises:
            raise typer.Exit(0 if print_promises(held) and held.guarantees else 1)
        planned = plan(held, given, also)
        kept = print_promises(held)
        found = audit_mechanism(planned, figures)
    _finish(found, output, asked, kept=kept)


def _finish(found: Audit, output: Path | None, asked: list[Requirement], *, kept: bool) -> NoReturn:
    """Print and write what was found, and exit as the requirements and promises say."""
    _print(found)
    if output is not None:
        _write(found, output)
    raise typer.Exit(max(_print_verdicts(found, asked), 0 if kept else 1, key=_severity))


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


def _check_fit(context: typer.Context, what: str, why: str = "") -> None:
    """Refuse an option that has no meaning for what is audited."""
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE" and name not in _FITTING[what]:
            option = max(parameter.opts, key=len)
            problem = f"but {what} {why}" if why else f"which has no meaning for {what}"
            asked = "to test a claim, use --require 'epsilon <= 0.7/km'" if option == "--epsilon" else ""
            raise InputError(f"{option} was given, {problem}.", f"leave {option} out.", asked)


def _prove_tuples(held: MechanismFile, deltas: tuple[float, ...]) -> bool:
    """Print what is proved of a file with dummies; return whether it promises something and keeps it."""
    from ..promises import prove_tuples

    say("A tuple is made from one report and dummies: what is proved above of one report holds for it too.")
    proved = prove_tuples(held, deltas)
    return proved and bool(deltas or held.guarantees or held.tuple_guarantees)


def _print(found: Audit) -> None:
    """Print the entries as a table, then in words."""
    from ..screen import Screen, print_table

    console = Screen()
    rows = [(entry.title, f"{entry.parameter} {entry.amount()}", entry.standing, entry.witness) for entry in found]
    headings = ("notion or measure", "value", "side", "attained by")
    print_table(console, "What was measured", headings, rows, text=(0, 2, 3))
    console.print("In words", style="bold cyan")
    for entry in found:
        if entry.sentence:
            console.print(f"- {entry.title}: {entry.sentence}")
    for note in found.notes:
        console.print(note)


def _print_verdicts(found: Audit, asked: list[Requirement]) -> int:
    """Print whether each requirement holds; return the exit code of the worst."""
    from ...audits import Outcome

    codes = {Outcome.HOLDS: 0, Outcome.FAILS: 1, Outcome.UNDECIDED: PARTIAL}
    worst = 0
    for requirement in asked:
        verdict = requirement.hold_against(found)
        word = verdict.outcome.value.upper()
        say(f"{requirement.text}: {word}: {verdict.reason}")
        worst = max(worst, codes[verdict.outcome], key=_severity)
    return worst


def _severity(code: int) -> int:
    """Return how bad an exit code is: a failure is worse than what is left undecided."""
    return {0: 0, PARTIAL: 1, 1: 2}[code]


def _write(found: Audit, path: Path) -> None:
    """Write all that was found as JSON, whole or not at all."""
    from ...core.atomic import atomically

    with atomically(path) as temporary:
        Path(temporary).write_text(json.dumps(found.as_dict(), indent=2, allow_nan=False) + "\n", encoding="utf-8")
