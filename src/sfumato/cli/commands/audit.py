"""``sfumato audit``: what a mechanism hides, and which guarantees of its file fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ...errors import InputError
from ..audit_knowledge import TableKnowledge, family_from
from ..mechanism_files import mechanism_from
from ..messages import say, working
from ..options import Dark, options_of
from ..outputs import check_outputs

if TYPE_CHECKING:
    from ...audits import Audit, AuditPlan, Request
    from ...files import MechanismFile, Yardstick
    from ...privacy import Family

_DELTA: Final = 1e-6
_DUMMIES: Final = "a file with dummies"
_NOISE: Final = "noise for coordinates"
_FITTING: Final = {
    "--promises": frozenset({"file", "promises", "kinds", "kind_column"}),
    _DUMMIES: frozenset({"file", "promises", "delta", "family"}),
    _NOISE: frozenset(
        {
            "file",
            "promises",
            "require",
            "measure",
            "prior",
            "delta",
            "delta_at",
            "order",
            "output",
            "kinds",
            "kind_column",
        }
    ),
}
"""The options that have a meaning in an audit of less than everything."""


@dataclass(frozen=True, kw_only=True)
class MechanismAuditOptions(TableKnowledge):
    """The options of ``sfumato audit``."""

    file: Annotated[Path, typer.Argument(help="A mechanism file (.sfm) or a matrix (.npy, .csv, .parquet).")]
    promises: Annotated[bool, typer.Option("--promises", help="Prove what the file guarantees, and no more.")] = (
        False
    )
    beliefs_within: Annotated[
        float | None,
        typer.Option(
            help="With --family: also for attackers whose beliefs are this near (total variation).", min=0, max=1
        ),
    ] = None
    figures: Annotated[Path | None, typer.Option(help="Write figures to this folder.")] = None
    figures_as: Annotated[str, typer.Option(help="With --figures: png, svg or pdf.")] = "png"
    dark: Dark = False


@options_of(MechanismAuditOptions)
def command(options: MechanismAuditOptions) -> None:
    """Audit a mechanism file or a matrix of probabilities.

    The audit trusts nothing that a file says about itself.
    Exit code 0 if every guarantee, linear constraint and requirement holds,
    1 if one fails, 3 if one is undecided. More: docs/how-to/audit.md.
    For samples and functions: 'sfumato audit-samples', 'sfumato audit-function'.
    """
    from ..audit_output import check_figures, finish, write_figures
    from ..mechanism_files import exit_code, print_promises
    from .tuple import print_family

    file, promises, output, family = options.file, options.promises, options.output, options.family
    requirements, also = options.requirements(), options.requests()
    if promises:
        _check_fit(options, "--promises", "which has no meaning for --promises")
    if options.kinds is None:
        options.refuse(("kind_column",), "was given without --kinds.", "name the map: --kinds places.csv.")
    if options.beliefs_within is not None and family is None:
        raise InputError("--beliefs-within was given without --family.", "add the distributions: --family FILE.")
    check_outputs([output], [file, options.kinds])
    ending = check_figures(options.figures, options.figures_as, dark=options.dark)
    content = mechanism_from(file)
    if not content.has_matrix:
        _check_fit(options, _NOISE, f"but {_NOISE} is audited by its guarantee, and on cells")
        noise_audit = None if promises else _audit_noise(content, options, also)
        outcomes = print_promises(content)
        if noise_audit is None:
            raise typer.Exit(exit_code(outcomes.worst))
        finish(noise_audit, output, requirements, file=file, promises=outcomes)
    elif content.kind_guarantees and options.kinds is not None:
        content = _on_map(content, options)
    elif promises:
        options.refuse(
            ("kinds",),
            "was given with --promises, but the file guarantees nothing about guesses of the kind.",
            "leave it out.",
        )
    if content.tupling is not None and (promises or not _misfits(options, _DUMMIES)):
        deltas = () if promises else tuple(options.delta or (_DELTA,))
        if family is not None:
            # A damaged table ends the audit before anything is printed.
            family_from(content.tupling.secrets, family)
        code = exit_code(print_promises(content).worst)
        if family is not None:
            for delta in deltas:
                print_family(content.tupling, family, delta)
        raise typer.Exit(code if _prove_tuples(content, deltas) else 1)
    if promises:
        worst = print_promises(content).worst
        raise typer.Exit(1 if worst is None else exit_code(worst))
    plan, by = _plan(content, options, also)
    outcomes = print_promises(content)
    violated = bool(content.tuple_guarantees) and not _prove_tuples(content, ())
    with working("Measuring every notion") as update:
        audit = plan.measure(lambda entry: update(f"Measured: {entry.title}"))
    if options.figures is not None:
        write_figures(plan, options.figures, ending, dark=options.dark)
    if by.note:
        audit = replace(audit, notes=(*audit.notes, by.note))
    if options.beliefs_within is not None and plan.inputs.family is not None:
        beliefs = _near_beliefs(plan, plan.inputs.family, options.beliefs_within)
        audit = replace(audit, notes=(*audit.notes, *beliefs))
    finish(audit, output, requirements, file=file, promises=outcomes, violated=violated, is_claim=by.stated)


def _on_map(content: MechanismFile, options: TableKnowledge) -> MechanismFile:
    """Return a file with its guarantees about guesses of the kind for the map of ``--kinds``."""
    import numpy as np

    from ...core import KindErrors

    shares = options.kinds_on(content.report_channel.secrets) or {}
    return content.with_map(KindErrors.of_shares(np.array(list(shares.values()))))


def _plan(file: MechanismFile, knowledge: TableKnowledge, also: Iterable[Request]) -> tuple[AuditPlan, Yardstick]:
    """Return what will be measured, by which distances; what cannot be is refused before anything is proved."""
    from ...audits import AuditInputs, plan_audit
    from ...files import Yardstick, measured_by

    space = file.report_channel.secrets
    metric = knowledge.metric_on(space)
    by = Yardstick(metric)
    if knowledge.metric is None and knowledge.distances is None:
        by = measured_by(file.report_channel, file.guarantees)
        if by.metric is not None:
            metric = by.metric if knowledge.unit is None else by.metric.to(knowledge.unit)
    if knowledge.unit is not None and metric is None:
        raise InputError("--unit was given without distances.", "give --metric or --distances.")
    prior = knowledge.prior_on(space, file.prior)
    inputs = AuditInputs(prior=prior, metric=metric, **knowledge.tables(space), **knowledge.numbers())
    return plan_audit(file.mechanism, inputs, also), by


def _audit_noise(file: MechanismFile, knowledge: TableKnowledge, also: Iterable[Request]) -> Audit:
    from ...audits import audit
    from ..mechanism_files import coarse_of

    prior = file.prior if knowledge.prior is None else knowledge.prior_on(coarse_of(file).cells)
    kinds = None if knowledge.kinds is None else knowledge.kinds_on(coarse_of(file).cells)
    with working("Measuring every notion") as update:
        return audit(
            file.mechanism,
            prior=prior,
            also=list(also),
            kinds=kinds,
            progress=lambda entry: update(f"Measured: {entry.title}"),
            **knowledge.numbers(),
        )


def _near_beliefs(plan: AuditPlan, family: Family, radius: float) -> Iterator[str]:
    """Yield the least epsilon at each delta for any beliefs near the distributions of the family."""
    from ...privacy import worst_beliefs
    from ...rounding import at_least, at_most, exactly

    for delta in (0.0, *plan.inputs.deltas):
        with working("Looking for the worst beliefs"):
            worst = worst_beliefs(plan.mechanism, family, radius, delta)
        names = " and ".join(family.names[place] for place in worst.pair)
        least = "" if worst.closed else f"; the least is at least {at_least(worst.epsilon.lower)}"
        yield (
            f"Attackers whose beliefs are within total variation {exactly(radius)} of the distributions: epsilon "
            f"at most {at_most(worst.epsilon.upper)} with delta {exactly(delta)} (largest near {names}{least})."
        )


def _misfits(options: MechanismAuditOptions, subject: str) -> list[str]:
    """Return the options that were given and have no meaning for what is audited."""
    return options.non_default(*(field.name for field in fields(options) if field.name not in _FITTING[subject]))


def _check_fit(options: MechanismAuditOptions, subject: str, why: str) -> None:
    for option in _misfits(options, subject):
        raise InputError(f"{option} was given, {why}.", f"leave {option} out.")


def _prove_tuples(file: MechanismFile, deltas: tuple[float, ...]) -> bool:
    """Print what is proved of a file with dummies; return whether it guarantees something and that holds."""
    from ..mechanism_files import prove_tuples

    say("A tuple is made from one report and dummies: what is proved of one report holds for it too.")
    is_proved = prove_tuples(file, deltas)
    if not (deltas or file.guarantees or file.tuple_guarantees or file.constraints):
        say("The file guarantees nothing: leave out --promises to see what its tuples hide.")
        return False
    return is_proved
