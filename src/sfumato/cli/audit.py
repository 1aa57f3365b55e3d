"""``sfumato audit``: what a mechanism, samples or a function keep hidden, and what they promise in vain."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError
from .console import PARTIAL, print_summary, say

if TYPE_CHECKING:
    from ..audits import Audit, Requirement
    from ..files import MechanismFile


def audit(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="A mechanism file (.sfm), a matrix (.npy, .csv, .parquet), or with --samples a table."
        ),
    ] = None,
    samples: Annotated[
        bool, typer.Option("--samples", help="The file holds samples: secrets and reports.")
    ] = False,
    columns: Annotated[
        str, typer.Option(help="With --samples: the columns of the secrets and of the reports.")
    ] = "secret,output",
    bins: Annotated[int | None, typer.Option(help="Reports are numbers: count them in so many cells.")] = None,
    function: Annotated[
        str | None, typer.Option(help="Call module:function with secrets, instead of reading a file.")
    ] = None,
    secrets: Annotated[
        str | None, typer.Option(help="With --function: the secrets, such as home,work or 0-9.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="With --function: the epsilon that it claims.")] = None,
    limit: Annotated[int, typer.Option(help="With --function: the most calls.")] = 100_000,
    require: Annotated[
        list[str] | None, typer.Option(help='What must hold, such as "epsilon <= 0.7/km"; may be repeated.')
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
    delta: Annotated[
        list[float] | None, typer.Option(help="Also the epsilon at this delta; may be repeated. [default: 1e-6]")
    ] = None,
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
    from ..audits import Requirement

    asked = [Requirement.parse(text) for text in require or []]
    deltas = tuple(delta) if delta else (1e-6,)
    if (file is None) == (function is None):
        raise InputError(
            "a file and --function were both given." if file else "nothing to audit was given.",
            "name one file, or a function with --function.",
        )
    beside: dict[str, object] = {
        "--require": asked,
        "--figures": figures,
        "--output": output,
        "--samples": samples,
    }
    beside["--function"] = function
    unused = [name for name, value in beside.items() if promises and value]
    if unused:
        raise InputError(
            f"{unused[0]} was given beside --promises, which proves a file's promises only.",
            "leave --promises out.",
        )
    kept = True
    if function is not None:
        found, kept = _of_function(
            function, secrets, epsilon, metric, distances, unit, delta[0] if delta else 0.0, bins, failure, limit
        )
    elif samples and file is not None:
        found = _of_samples(file, columns, bins, metric, distances, unit, deltas, failure)
    else:
        held = _held(file)
        kept = _print_promises(held)
        if held.tupling is not None:
            raise typer.Exit(_tuples_verdict(held, () if promises else deltas, kept, beside))
        if promises:
            raise typer.Exit(0 if kept and held.guarantees else 1)
        found = _of_mechanism(held, metric, distances, unit, prior, deltas, asked, figures)
    _print(found)
    if output is not None:
        _write(found, output)
    raise typer.Exit(max(_verdicts(found, asked), 0 if kept else 1, key=_severity))


def _tuples_verdict(
    held: MechanismFile, deltas: tuple[float, ...], kept: bool, beside: Mapping[str, object]
) -> int:
    """Print what is proved of a file with dummies; return the exit code."""
    from .tuples import prove_tuples

    unused = [name for name, value in beside.items() if value]
    if unused:
        raise InputError(
            f"{unused[0]} was given, but a file with dummies is audited by its promises and --delta only.",
            f"leave {unused[0]} out, or audit the file of the inner mechanism.",
        )
    say("The promise above holds for a tuple too, which is made from one report and dummies; so nobody who sees")
    say("the tuple guesses better, or learns more, than is said above of one report.")
    proved = prove_tuples(held, deltas)
    return 0 if kept and proved and (deltas or held.guarantees or held.tuple_guarantees) else 1


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


def _of_mechanism(
    held: MechanismFile,
    kind: str | None,
    distances: Path | None,
    unit: str | None,
    prior_text: str | None,
    deltas: tuple[float, ...],
    asked: list[Requirement],
    figures: Path | None,
) -> Audit:
    from ..audits import audit as measured
    from ..core import MetricPrivacy
    from .screen import Screen
    from .subjects import metric_from, prior_from

    space = held.mechanism.secrets
    metric = metric_from(space, kind, distances, unit)
    promised = [promise.metric for promise in held.guarantees if isinstance(promise, MetricPrivacy)]
    if promised and kind is None and distances is None:
        metric = promised[0] if unit is None else promised[0].to(unit)
    prior = prior_from(space, prior_text, held.prior)
    with Screen(stderr=True).status("Measuring every notion") as status:
        found = measured(
            held.mechanism,
            prior=prior,
            metric=metric,
            deltas=deltas,
            also=[requirement.request for requirement in asked],
            progress=lambda entry: status.update(f"Measured: {entry.title}"),
        )
    if figures is not None:
        from ..report import save_audit_figures

        for path in save_audit_figures(held.mechanism, figures, prior=prior, metric=metric):
            say(f"Wrote {path}", err=True)
    return found


def _of_samples(
    file: Path,
    columns: str,
    bins: int | None,
    kind: str | None,
    distances: Path | None,
    unit: str | None,
    deltas: tuple[float, ...],
    failure: float,
) -> Audit:
    from ..audits import audit as measured
    from .subjects import metric_from, sample_from

    sample = sample_from(file, columns, bins)
    metric = metric_from(sample.secrets, kind, distances, unit)
    return measured(sample, metric=metric, deltas=deltas, failure=failure)


def _of_function(
    name: str,
    secrets: str | None,
    epsilon: str | None,
    kind: str | None,
    distances: Path | None,
    unit: str | None,
    delta: float,
    bins: int | None,
    failure: float,
    limit: int,
) -> tuple[Audit, bool]:
    from ..audits import audit_black_box
    from ..core import Space
    from .subjects import function_from, labels_from, metric_from

    if secrets is None or epsilon is None:
        raise InputError("--function needs --secrets and --epsilon.", "say which secrets to try, and the claim.")
    labels = labels_from(secrets)
    metric = metric_from(Space(labels), kind, distances, unit)
    found = audit_black_box(
        function_from(name),
        labels,
        epsilon,
        metric=metric,
        delta=delta,
        failure=failure,
        limit=limit,
        cells=bins,
    )
    return found.audit, not found.refuted


def _print(found: Audit) -> None:
    from ..core.units import per_unit
    from ..rounding import at_least, at_most
    from .screen import Screen
    from .tables import print_table

    console = Screen()
    rows = []
    for entry in found:
        number = (at_least if entry.side.startswith("at least") else at_most)(entry.shown, 5)
        suffix = per_unit(entry.unit) if entry.per else f" {entry.unit}" if entry.unit else ""
        rows.append((entry.title, f"{entry.parameter} {number}{suffix}", entry.side, entry.witness))
    headings = ("notion or measure", "value", "side", "attained by")
    print_table(console, "What was measured", headings, rows, text=(0, 2, 3))
    console.print("In words", style="bold cyan")
    for entry in found:
        if entry.sentence:
            console.print(f"- {entry.title}: {entry.sentence}")
    for note in found.notes:
        console.print(note)


def _verdicts(found: Audit, asked: list[Requirement]) -> int:
    from ..audits import Outcome

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
    from ..core.atomic import atomically

    with atomically(path) as temporary:
        Path(temporary).write_text(json.dumps(found.as_dict(), indent=2, allow_nan=False) + "\n", encoding="utf-8")
