"""``sfumato tuple``: hide each report of a mechanism among dummies; and what is proved of such files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import say
from .outputs import check_outputs

if TYPE_CHECKING:
    from ..core import Mechanism, Prior
    from ..files import MechanismFile

_SHOWN_DELTA = 1e-3


def among_dummies(
    file: Annotated[Path, typer.Argument(help="A mechanism file (.sfm); its mechanism draws the true report.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Write the mechanism file (.sfm).")],
    dummies: Annotated[int | None, typer.Option(help="How many dummies beside each report, such as 10.")] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Instead: the fewest dummies for this epsilon at --delta.")
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(
            help="With --epsilon: what any set of tuples may be likelier by, beyond the factor e^epsilon."
        ),
    ] = None,
    source: Annotated[
        str, typer.Option(help="Draw dummies from: mixture (what true reports look like) or uniform.")
    ] = "mixture",
    most: Annotated[int, typer.Option(help="With --epsilon: the most dummies to try.")] = 1000,
) -> None:
    """Hide each report among dummies: users ask with all of them, in random order.

    With --dummies their number is given, and the epsilon at delta 0.001 is shown. With
    --epsilon and --delta the fewest are found for which every two secrets are proved
    indistinguishable, and the file promises that.
    """
    from ..errors import InputError
    from ..files import MechanismFile, read, save
    from ..mechanisms.tupling import FamilyAccountant, TuplePrivacy, Tupling, plan_dummies
    from .screen import Screen

    if (dummies is None) == (epsilon is None):
        given = "neither --dummies nor --epsilon was" if dummies is None else "--dummies and --epsilon were both"
        raise InputError(f"{given} given.", "give the number of dummies, or --epsilon with --delta.")
    if (epsilon is None) != (delta is None):
        raise InputError("--epsilon and --delta go together.", "give both, such as --epsilon 0.5 --delta 1e-3.")
    if output.suffix.lower() != ".sfm":
        raise InputError(f"{str(output)!r} does not end in .sfm.", "name a .sfm file.")
    check_outputs([output], [file])
    held = read(file).alone()
    tupling = Tupling(held.mechanism, dummies or 0, _dummies(held.mechanism, source))
    promised: tuple[TuplePrivacy, ...] = ()
    if epsilon is not None and delta is not None:
        promised = (TuplePrivacy(epsilon, delta),)
        with Screen(stderr=True).status("Counting dummies"):
            plan = plan_dummies(FamilyAccountant.of_points(tupling), epsilon, delta, most=most)
        tupling = plan.tupling
    written = MechanismFile(tupling, held.prior, held.loss, (*held.guarantees, *promised))
    save(written, output)
    say(f"{tupling.dummies:,} dummies, so {tupling.queries:,} queries for each report.")
    prove_tuples(written, () if promised else (_SHOWN_DELTA,))
    say(f"Written: {output}")


def prove_tuples(held: MechanismFile, deltas: tuple[float, ...]) -> bool:
    """Print what the accountant proves of a file with dummies; return whether its promises are proved.

    Args:
        held: The file.
        deltas: At which the least epsilon is told, too.
    """
    from ..mechanisms.tupling import FamilyAccountant, quality_loss
    from ..rounding import amount_at_most, at_least, at_most, exactly
    from .screen import Screen

    tupling = held.tupling
    if tupling is None:
        return True
    family = FamilyAccountant.of_points(tupling)
    with Screen(stderr=True).status("Comparing every two secrets") as status:
        proofs = [promise.prove(tupling) for promise in held.tuple_guarantees]
        for proof in proofs:
            say(proof.sentence)
        for delta in deltas:
            status.update(f"Comparing every two secrets at delta {delta:g}")
            found = family.epsilon(delta)
            labels = [tupling.inner.secrets.labels[place] for place in found.pair]
            say(
                f"Proved: at delta {exactly(delta)} every two secrets are indistinguishable from a tuple with "
                f"epsilon {at_most(found.bounds.upper)} (the least is at least {at_least(found.bounds.lower)}, "
                f"for {labels[0]} and {labels[1]})."
            )
    if held.prior is not None and held.loss is not None:
        best = amount_at_most(quality_loss(tupling, held.prior, held.loss), held.loss.unit)
        single = amount_at_most(tupling.inner.expected_loss(held.prior, held.loss), held.loss.unit)
        say(
            f"The best of {tupling.queries:,} answers loses at most {best} on average, a single report at "
            f"most {single}."
        )
    return all(proof.holds for proof in proofs)


def _dummies(inner: Mechanism, source: str) -> Prior:
    import numpy as np

    from ..errors import InputError
    from ..mechanisms.tupling import mixture_dummies, uniform_dummies

    if source == "mixture":
        return mixture_dummies(inner, np.eye(inner.shape[0]))
    if source == "uniform":
        return uniform_dummies(inner)
    raise InputError(f"--source {source} is unknown.", "use mixture or uniform.")
