"""``sfumato tuple``: each report of a mechanism hidden among dummies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..mechanism_files import prove_tuples
from ..messages import say
from ..options import SfmFile
from ..outputs import check_ending, check_outputs

if TYPE_CHECKING:
    from ...core import Mechanism, Prior

_SHOWN_DELTA = 1e-3


def command(
    file: SfmFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="Write the mechanism file (.sfm).")],
    dummies: Annotated[
        int | None, typer.Option(help="The number of dummies beside each report, such as 10.")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Find the fewest dummies that promise this epsilon at --delta.")
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(
            help="With --epsilon: how much likelier any set of tuples may be, beyond the factor e^epsilon."
        ),
    ] = None,
    source: Annotated[
        str, typer.Option(help="Where dummies are drawn from: mixture (they look like true reports) or uniform.")
    ] = "mixture",
    most: Annotated[int, typer.Option(help="With --epsilon: try at most this many dummies.")] = 1000,
) -> None:
    """Hide each report among dummies.

    Users ask with the report and all dummies, in random order, and keep the best answer.

    With --dummies you choose their number, and the epsilon at delta 0.001 is shown. With
    --epsilon and --delta the command finds the fewest dummies for which every two secrets
    are proved indistinguishable, and the file promises that.
    """
    from ..._system import owner_only_like
    from ...errors import InputError
    from ...files import MechanismFile, read_mechanism_file, save
    from ...mechanisms.tupling import FamilyAccountant, TuplePrivacy, Tupling, plan_dummies
    from ..screen import Screen

    if (dummies is None) == (epsilon is None):
        given = "neither --dummies nor --epsilon was" if dummies is None else "--dummies and --epsilon were both"
        raise InputError(f"{given} given.", "add --dummies 10, or --epsilon 0.5 with --delta 1e-3.")
    if (epsilon is None) != (delta is None):
        raise InputError("--epsilon and --delta go together.", "give both, such as --epsilon 0.5 --delta 1e-3.")
    check_ending(output, ".sfm")
    check_outputs([output], [file])
    held = read_mechanism_file(file).alone()
    tupling = Tupling(held.report_channel, dummies or 0, _dummies(held.report_channel, source))
    promised: tuple[TuplePrivacy, ...] = ()
    if epsilon is not None and delta is not None:
        promised = (TuplePrivacy(epsilon, delta),)
        with Screen(stderr=True).status("Counting dummies"):
            plan = plan_dummies(FamilyAccountant.of_points(tupling), epsilon, delta, most=most)
        tupling = plan.tupling
    written = MechanismFile(
        tupling, held.prior, held.loss, (*held.guarantees, *promised), constraints=held.constraints
    )
    with owner_only_like(file):
        save(written, output)
    say(f"{tupling.dummies:,} dummies, so {tupling.queries:,} queries for each report.")
    prove_tuples(written, () if promised else (_SHOWN_DELTA,))
    say(f"Written: {output}")


def _dummies(inner: Mechanism, source: str) -> Prior:
    from ...errors import InputError
    from ...mechanisms.tupling import mixture_dummies, uniform_dummies

    if source == "mixture":
        return mixture_dummies(inner)
    if source == "uniform":
        return uniform_dummies(inner)
    raise InputError(f"--source {source} is unknown.", "use mixture or uniform.")
