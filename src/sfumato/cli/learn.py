"""``sfumato learn``: a mechanism that hides an attribute of the visitor, learned against an attacker."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from .console import PARTIAL, StopOnInterrupt, say, warn_of_extremes
from .outputs import check_outputs
from .places import cells_over, visits_from
from .wording import option

if TYPE_CHECKING:
    from ..core import Guarantee, Mechanism, Prior
    from ..geo import Places, Visits
    from ..learn import Ending, Guaranteed, Pairs, Round, Target
    from ..learn.rounds import Report
    from ..optimal import Design, SensitiveDesign
    from .screen import Screen


_ROUNDING = 1e-9  # of the loss, relative
_GAP = 1e-4  # relative, of the least loss under a promise
_WITHIN = 1 - 1e-7  # of the bound: room for the rounding of a mixture


class Aim(StrEnum):
    """What the mechanism makes small."""

    VULNERABILITY = "vulnerability"
    INFORMATION = "information"


def learn(
    visits: Annotated[Path, typer.Argument(help="Visits: CSV, Parquet, GeoParquet, ...")],
    bound: Annotated[str, typer.Option(help="Reports are off by at most this on average: '500 m'.")],
    sensitive: Annotated[
        str | None, typer.Option(help="The column to hide; by default who the visitor is.")
    ] = None,
    most: Annotated[int, typer.Option(help="How many of its values to hide, those with the most visits.")] = 6,
    target: Annotated[Aim, typer.Option(help="What to make small.")] = Aim.VULNERABILITY,
    neural: Annotated[
        bool, typer.Option("--neural", help="Learn a network on points, then count it on the cells.")
    ] = False,
    epsilon: Annotated[
        str | None,
        typer.Option(help="Learn behind a mechanism of this metric privacy, and prove the whole: '1/km'."),
    ] = None,
    cell: Annotated[str | None, typer.Option(help="Size of the cells: '500 m'.")] = None,
    cells: Annotated[str | None, typer.Option(help="Number of cells: columns x rows, '20x15'.")] = None,
    region: Annotated[
        str | None, typer.Option(help="'south,west,north,east' or '8 km x 6 km around 48.85,2.35'.")
    ] = None,
    held_out: Annotated[float, typer.Option(help="The share of the visits that only judges.")] = 0.2,
    rounds: Annotated[int, typer.Option(help="The most rounds of the game.")] = 120,
    checkpoint: Annotated[Path | None, typer.Option(help="Save here, and go on from it if it exists.")] = None,
    seed: Annotated[int, typer.Option(help="Repeats the split and the training.")] = 1,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the mechanism file (.sfm).")] = None,
    lat: Annotated[str | None, typer.Option(help="Name of the latitude column.")] = None,
    lon: Annotated[str | None, typer.Option(help="Name of the longitude column.")] = None,
    user_column: Annotated[str | None, typer.Option(help="Name of the user column.")] = None,
) -> None:
    """Learn a mechanism that hides a sensitive column while places stay useful.

    The answer is compared with the certified optimum, and judged on visits that it did
    not learn from. Nothing learned is a promise: with --epsilon the mechanism of least
    loss is designed first, what follows it is learned, and the whole is proved. Exit code
    3 if the training was stopped early, or if the mechanism loses more than the bound.
    """
    from ..core import MetricPrivacy, Prior, units
    from ..files import MechanismFile, save
    from ..learn import Ending
    from ..optimal import least_information, least_vulnerability
    from .screen import Screen

    if output is not None and output.suffix.lower() != ".sfm":
        raise InputError(f"{str(output)!r} does not end in .sfm.", "name a .sfm file.")
    check_outputs([output, checkpoint], [visits])
    _check_numbers(most, held_out, rounds, seed)
    with option("--bound"):
        limit = units.parse(bound, unit="m", what="the bound")
        if not limit > 0:
            raise InputError(f"a bound of {bound} is not positive.", "allow some loss, such as '500 m'.")
    found, _ = visits_from(visits, lat, lon, user_column)
    places = cells_over(found, region, cell, cells, None)
    if epsilon is not None:
        with option("--epsilon"):
            warn_of_extremes([MetricPrivacy(epsilon, places.metric("euclidean", unit="km"))])
    data = _pairs(found, places, sensitive, most)
    learning, judging = data.split(1 - held_out, seed=seed)
    console = Screen()
    console.print(
        f"{len(learning):,} visits to learn from, {len(judging):,} to judge; hiding {len(data.space)} values."
    )
    joint = learning.joint(places)
    loss = places.metric("euclidean", unit="m")
    prior = Prior(places, joint.sum(axis=0))
    certified = None if epsilon is None else _certified(prior, places, epsilon, limit)
    with (
        StopOnInterrupt() as stop,
        Screen(stderr=True).status("Learning (Ctrl-C keeps the best so far)") as status,
    ):

        def tell(done: Round) -> None:
            status.update(f"Round {done.number}: Bayes error {done.bayes_error:.4f}, loss {done.loss:.0f} m")

        mechanism, ending = _trained(
            learning,
            places,
            limit,
            target,
            rounds,
            seed,
            checkpoint,
            tell,
            stop,
            neural=neural,
            certified=None if certified is None else certified.mechanism,
        )
    if ending is Ending.STOPPED:
        console.print("NOT FINISHED: the training was stopped.")
    with Screen(stderr=True).status("Finding the certified optimum"):
        exact = least_vulnerability if target is Aim.VULNERABILITY else least_information
        optimum = exact(joint, places, loss, limit)
    guarantees: list[Guarantee] = []
    if certified is not None:
        guarantees = list(certified.problem.guarantees)
        mechanism = _promised(console, mechanism, certified, limit)
    within = _print(console, mechanism, optimum, learning, judging, places, limit)
    if output is not None:
        save(MechanismFile(mechanism, prior, loss, guarantees), output)
        say(f"Written: {output}", err=True)
    if ending is Ending.STOPPED or not within:
        raise typer.Exit(PARTIAL)


def _check_numbers(most: int, held_out: float, rounds: int, seed: int) -> None:
    for name, value, least in (("--most", most, 2), ("--rounds", rounds, 1), ("--seed", seed, 0)):
        if value < least:
            raise InputError(f"{name} {value} is too small.", f"use at least {least}.")
    if not 0 < held_out < 1:
        raise InputError(f"--held-out {held_out:g} is not a share between 0 and 1.", "use 0.2 for a fifth.")


def _certified(prior: Prior, places: Places, epsilon: str, limit: float) -> Design:
    """Return the mechanism of least loss with metric privacy, if that is within the bound."""
    from ..core import MetricPrivacy
    from ..errors import InfeasibleError, argument
    from ..optimal import design
    from ..rounding import amount, amount_at_least, amount_at_most
    from .screen import Screen

    guarantee = MetricPrivacy(epsilon, places.metric("euclidean", unit="km"))
    with Screen(stderr=True).status(f"Finding the least loss at {guarantee}"):
        found = design(prior, loss=places.metric("euclidean", unit="m"), guarantees=[guarantee], gap=_GAP)
    proof = found.certificate
    if limit < proof.loss:
        least = amount_at_least(proof.bound, "m", 4)
        raise InfeasibleError(
            f"a loss of at most {amount(limit, 'm')} was asked for, but at an epsilon of {guarantee.epsilon:g}/km "
            f"no mechanism on these cells loses less than {least} on average.",
            f"allow {argument('bound', amount_at_most(proof.loss, 'm', 4))}.",
            f"ask for a larger {argument('epsilon')}.",
        )
    return found


def _promised(console: Screen, learned: Mechanism, certified: Design, limit: float) -> Mechanism:
    """Return what was learned, within the promise and the bound, proved on its integers."""
    from ..core import Mechanism, MetricPrivacy
    from ..learn import mixed_to_bound, with_guarantee
    from ..optimal import repaired
    from ..rounding import at_most

    problem = certified.problem
    guarantee = next(each for each in problem.guarantees if isinstance(each, MetricPrivacy))

    def kept(mechanism: Mechanism) -> Guaranteed:
        return with_guarantee(mechanism, guarantee, lambda matrix, exponents: repaired(matrix, exponents))

    found = kept(learned)
    if found.mechanism.expected_loss(problem.prior, problem.loss) > limit:
        mixed = mixed_to_bound(found.mechanism, certified.mechanism, problem.prior, problem.loss, limit * _WITHIN)
        found = kept(Mechanism(mixed, learned.secrets, learned.observables))
    console.print(f"Proved on the integers: epsilon is at most {at_most(found.proof.upper, 7)}/km.")
    return found.mechanism


def _pairs(found: Visits, places: Places, sensitive: str | None, most: int) -> Pairs:
    """Return the records inside the cells whose label is among the most frequent."""
    import numpy as np

    from ..learn import Pairs

    if sensitive is None:
        if found.user is None:
            raise InputError("the visits name no users.", "name the column to hide with --sensitive.")
        labels = found.user
    elif sensitive in found.attributes:
        labels = found.attributes[sensitive]
    else:
        known = ", ".join(found.attributes) or "none"
        raise InputError(f"there is no column {sensitive!r}.", f"the other columns are: {known}.")
    inside = places.locate(found.lat, found.lon) >= 0
    values, counts = np.unique([str(label) for label in labels[inside]], return_counts=True)
    chosen = values[np.argsort(-counts, kind="stable")[:most]]
    kept = inside & np.isin([str(label) for label in labels], chosen)
    points = places.projection.forward(found.lat[kept], found.lon[kept])
    return Pairs([str(label) for label in labels[kept]], points, "m")


def _trained(
    learning: Pairs,
    places: Places,
    limit: float,
    target: Aim,
    rounds: int,
    seed: int,
    checkpoint: Path | None,
    tell: Report,
    stop: StopOnInterrupt,
    *,
    neural: bool,
    certified: Mechanism | None,
) -> tuple[Mechanism, Ending]:
    """Return the mechanism on the cells that was learned, and how the training ended."""
    from ..learn import counted, learn_behind, learn_generator, learn_table

    aim = _target(target, smooth=not neural)
    if neural:
        network = learn_generator(
            learning, limit, target=aim, rounds=rounds, seed=seed, checkpoint=checkpoint, report=tell, stop=stop
        )
        return counted(network, places, seed=seed).mechanism, network.ending
    joint, loss = learning.joint(places), places.metric("euclidean", unit="m")
    settings: dict[str, Any] = {
        "target": aim,
        "records": len(learning) // 2,
        "rounds": rounds,
        "seed": seed,
        "checkpoint": checkpoint,
        "report": tell,
        "stop": stop,
    }
    if certified is not None:
        found = learn_behind(joint, certified, loss, limit, **settings)
    else:
        found = learn_table(joint, places, loss, limit, **settings)
    return found.mechanism, found.ending


def _target(target: Aim, *, smooth: bool) -> Target:
    from ..learn import BayesVulnerability, MutualInformation

    if target is Aim.INFORMATION:
        return MutualInformation()
    return BayesVulnerability(8.0) if smooth else BayesVulnerability()


def _print(
    console: Screen,
    mechanism: Mechanism,
    optimum: SensitiveDesign,
    learning: Pairs,
    judging: Pairs,
    places: Places,
    limit: float,
) -> bool:
    """Print what was found, and return whether the learned mechanism is within the bound."""
    from ..rounding import amount_at_least, amount_at_most, at_most, gap_at_most, percent, percent_at_most
    from .tables import print_table

    rows = []
    for name, each, data in (
        ("learned", mechanism, learning),
        ("learned, on visits kept apart", mechanism, judging),
        ("certified optimum", optimum.mechanism, learning),
        ("certified optimum, on visits kept apart", optimum.mechanism, judging),
    ):
        hits, bits, loss = _measured(each, data, places)
        rows.append((name, percent_at_most(hits), at_most(bits, 3), amount_at_most(loss, "m")))
    title = f"Hiding the value at a loss of at most {amount_at_most(limit, 'm')}"
    print_table(console, title, ("", "finds the value", "information (bits)", "average loss"), rows)
    console.print(
        f"Without a report the best attacker finds the value about {percent(1 - learning.blind_error)} of "
        f"the time."
    )
    console.print(
        "Proved: for the visits learned from, no mechanism of this loss on these cells hides more than the "
        f"optimum by {gap_at_most(optimum.gap)} of its value."
    )
    _, _, lost = _measured(mechanism, learning, places)
    within = lost <= limit * (1 + _ROUNDING)
    if not within:
        console.print(
            f"NOT within the bound: the learned mechanism loses at least {amount_at_least(lost, 'm')} on average, "
            f"and at most {amount_at_most(limit, 'm')} were allowed."
        )
    return within


def _measured(mechanism: Mechanism, data: Pairs, places: Places) -> tuple[float, float, float]:
    """Return how often the best guess of the label is right, the bits that a report tells of it, and the loss."""
    import numpy as np

    joint = data.joint(places)
    seen = joint @ mechanism.matrix
    outer = seen.sum(axis=1, keepdims=True) * seen.sum(axis=0, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.where(seen > 0, seen * np.log2(seen / outer), 0.0).sum()
    loss = (joint.sum(axis=0) @ (mechanism.matrix * places.metric("euclidean", unit="m").array)).sum()
    return float(seen.max(axis=0).sum()), float(bits), float(loss)
