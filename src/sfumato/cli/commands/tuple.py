"""``sfumato tuple``: the reports of a mechanism, each among dummies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from typer import Argument, Option

from ..._system import owner_only_like
from ...errors import InfeasibleError, InputError
from ..audit_knowledge import family_from
from ..mechanism_files import mechanism_from, prove_tuples
from ..messages import option, say
from ..outputs import check_ending, check_outputs

if TYPE_CHECKING:
    from ...files import MechanismFile
    from ...mechanisms.tupling import DummyPlan, FamilyAccountant, Tupling

_SHOWN_DELTA: Final = 1e-3
_MOST: Final = 1000
_SOURCES: Final = ("mixture", "uniform", "optimised")


def command(
    files: Annotated[
        list[Path],
        Argument(help="Mechanism files (.sfm) or matrices (.npy, .csv, .parquet); of several, the best is taken."),
    ],
    output: Annotated[Path, Option("--output", "-o", help="Write the mechanism file (.sfm).")],
    dummies: Annotated[int | None, Option(help="The number of dummies for each report, such as 10.")] = None,
    epsilon: Annotated[float | None, Option(help="Find the fewest dummies for this epsilon.")] = None,
    delta: Annotated[float | None, Option(help="With --epsilon: the delta to guarantee.")] = None,
    family: Annotated[
        Path | None,
        Option(
            help="Hide the secret's distribution, not the secret: a table of distribution, secret, probability."
        ),
    ] = None,
    source: Annotated[
        str,
        Option("--dummies-from", help="mixture (like true reports), uniform, or optimised (fewer are enough)."),
    ] = "mixture",
    most: Annotated[
        int | None, Option("--max-dummies", help=f"With --epsilon: try at most this many. [default: {_MOST}]")
    ] = None,
) -> None:
    """Hide each report among dummies.

    Users query with the report and all dummies, in random order, and take the best answer.
    With --dummies the epsilon at delta 0.001 is printed. With --epsilon and --delta the file guarantees them
    for every two secrets, or with --family (distribution privacy) for every two distributions.
    The file does not hold the family; audit it with the same table.
    """
    from ...files import MechanismFile, save
    from ...mechanisms.tupling import TuplePrivacy
    from ...rounding import at_most, exactly, plural

    if (dummies is None) == (epsilon is None):
        problem = "neither --dummies nor --epsilon was" if dummies is None else "--dummies and --epsilon were both"
        raise InputError(f"{problem} given.", "add --dummies 10, or --epsilon 0.5 with --delta 1e-3.")
    if (epsilon is None) != (delta is None):
        raise InputError("--epsilon and --delta go together.", "give both, such as --epsilon 0.5 --delta 1e-3.")
    if len(files) > 1 and epsilon is None:
        raise InputError("several mechanisms were given with --dummies.", "choose among them with --epsilon.")
    if most is not None and epsilon is None:
        raise InputError("--dummies and --max-dummies were both given.", "leave one of them out.")
    if source not in _SOURCES:
        raise InputError(f"--dummies-from {source} is unknown.", "use mixture, uniform or optimised.")
    check_ending(output, ".sfm")
    check_outputs([output], [*files, family])
    inner = [mechanism_from(file) for file in files]
    for file, content in zip(files, inner, strict=True):
        with option(str(file)):
            _ = content.alone().report_channel  # single reports with a matrix
    guarantees: tuple[TuplePrivacy, ...] = ()
    if epsilon is not None and delta is not None:
        index, plan = _choose_plan(files, inner, family, source, epsilon, delta, _MOST if most is None else most)
        tupling = plan.tupling
        guarantees = (TuplePrivacy(epsilon, delta),) if family is None else ()
    else:
        index, plan = 0, None
        tupling = _among(inner[0], family, source, dummies or 0)
    content = inner[index]
    tuple_file = MechanismFile(
        tupling, content.prior, content.loss, (*content.guarantees, *guarantees), constraints=content.constraints
    )
    with owner_only_like(files[index]):
        save(tuple_file, output)
    if len(files) > 1:
        say(f"Chosen: {files[index]}")
    fakes, queries = plural(tupling.dummies, "dummy", "dummies"), plural(tupling.queries, "query", "queries")
    say(f"{fakes}, so {queries} for each report.")
    if family is not None and plan is None:
        print_family(tupling, family, _SHOWN_DELTA)
    elif family is not None and plan is not None:
        upper = at_most(plan.found_delta.bounds.upper)
        numbers = f"epsilon {exactly(plan.epsilon)} with delta {exactly(plan.delta)}"
        say(f"Proved: {numbers} {_pairs_phrase(tupling, family)} (the least delta is at most {upper}).")
    prove_tuples(tuple_file, () if guarantees or family is not None else (_SHOWN_DELTA,))
    say(f"Written: {output}")


def _accountant(tupling: Tupling, path: Path | None) -> FamilyAccountant:
    from ...mechanisms.tupling import FamilyAccountant

    if path is None:
        return FamilyAccountant.of_points(tupling)
    family = family_from(tupling.secrets, path)
    return FamilyAccountant(tupling, family.distributions, family.pairs)


def _among(file: MechanismFile, family: Path | None, source: str, dummies: int) -> Tupling:
    from ...mechanisms.tupling import Tupling, mixture_dummies, optimised_dummies, uniform_dummies

    inner = file.report_channel
    tupling = Tupling(inner, dummies, uniform_dummies(inner))
    if source == "uniform":
        return tupling
    rows = None if family is None else family_from(tupling.secrets, family).distributions
    tupling = Tupling(inner, dummies, mixture_dummies(inner, rows))
    if source == "mixture" or not dummies:
        return tupling
    choice = optimised_dummies(_accountant(tupling, family), delta=_SHOWN_DELTA)
    return Tupling(inner, dummies, choice.distribution)


def _choose_plan(
    files: Sequence[Path],
    inner: Sequence[MechanismFile],
    family: Path | None,
    source: str,
    epsilon: float,
    delta: float,
    most: int,
) -> tuple[int, DummyPlan]:
    """Return the place and the plan of the mechanism with the least loss, or else with the fewest dummies."""
    from numpy import array_equal

    from ...mechanisms.tupling import plan_dummies
    from ...rounding import plural
    from ..screen import Screen

    plans: dict[int, DummyPlan] = {}
    problems: list[InfeasibleError] = []
    with Screen(stderr=True).status("Counting dummies"):
        for number, content in enumerate(inner):
            priced = content.prior is not None and content.loss is not None
            start = _among(content, family, "mixture" if source == "optimised" else source, 0)
            try:
                plans[number] = plan_dummies(
                    _accountant(start, family),
                    epsilon,
                    delta,
                    most=most,
                    prior=content.prior if priced else None,
                    loss=content.loss if priced else None,
                    optimise=source == "optimised",
                )
            except InfeasibleError as error:
                problems.append(error)
    if not plans:
        raise problems[0]
    priors = [(file.prior, file.loss.unit) for file in inner if file.prior is not None and file.loss is not None]
    comparable = len(priors) == len(inner) and all(
        unit == priors[0][1]
        and prior.space == priors[0][0].space
        and array_equal(prior.probabilities, priors[0][0].probabilities)
        for prior, unit in priors
    )
    if len(files) > 1:
        for number, file in enumerate(files):
            answer = plans.get(number)
            sentence = f"{plural(most, 'dummy', 'dummies')} are not enough" if answer is None else answer.sentence
            say(f"{file}: {sentence}")
        if not comparable:
            say("The one with the fewest dummies is chosen: the files do not all hold the same prior and loss.")

    def rank(number: int) -> tuple[float, int]:
        plan = plans[number]
        return (plan.loss if comparable and plan.loss is not None else 0.0, plan.dummies)

    best = min(plans, key=rank)
    return best, plans[best]


def print_family(tupling: Tupling, path: Path, delta: float) -> None:
    """Print the least epsilon that is proved, at a delta, of every two distributions of a table."""
    from ...rounding import at_least, at_most, exactly
    from ..screen import Screen

    with Screen(stderr=True).status("Comparing every two distributions"):
        bound = _accountant(tupling, path).epsilon(delta)
    names = " and ".join(family_from(tupling.secrets, path).names[place] for place in bound.pair)
    numbers = f"epsilon {at_most(bound.bounds.upper)} with delta {exactly(delta)}"
    least = f"the least is at least {at_least(bound.bounds.lower)}, for {names}"
    say(f"Proved: {numbers} {_pairs_phrase(tupling, path)} ({least}).")


def _pairs_phrase(tupling: Tupling, path: Path) -> str:
    count = len(family_from(tupling.secrets, path).names)
    return f"between every two of the {count} distributions of {path.name}, from a tuple"
