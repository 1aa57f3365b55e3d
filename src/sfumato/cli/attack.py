"""``sfumato attack``: what adversaries achieve against a mechanism file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .places import visits_from

if TYPE_CHECKING:
    from ..attacks import Attack
    from ..core import Mechanism, Metric, Prior


_EXAMPLES = 20_000


def attack(
    file: Annotated[Path, typer.Argument(help="A mechanism file (.sfm).")],
    visits: Annotated[
        Path | None, typer.Option(help="Take the true prior from these visits instead of the file.")
    ] = None,
    user: Annotated[str | None, typer.Option(help="Only this user's visits.")] = None,
    distance: Annotated[
        str, typer.Option(help="How errors count: euclidean, great-circle, hamming, ...")
    ] = "euclidean",
    sharper: Annotated[
        float, typer.Option(help="The better-informed attacker's extra belief in the two likeliest places.")
    ] = 0.5,
    learned: Annotated[
        bool, typer.Option("--learned", help="Also attackers who learn from simulated reports (extra learn).")
    ] = False,
) -> None:
    """Attack a mechanism with every adversary who fits, and measure what leaks."""
    from ..core import Prior
    from ..errors import InputError
    from ..files import read
    from ..geo import Places
    from .screen import Screen

    held = read(file).alone()
    mechanism = held.mechanism
    space = mechanism.secrets
    prior = held.prior
    if visits is not None:
        if not isinstance(space, Places):
            raise InputError(
                "the mechanism's secrets are no places, so visits mean nothing to it.", "leave out --visits."
            )
        found, _ = visits_from(visits, None, None, None)
        prior = Prior.from_visits(space, found, user=user)
    elif user is not None:
        raise InputError("--user was given without --visits.", "add the file of visits.")
    if prior is None:
        raise InputError("the file holds no prior.", "pass --visits to take it from visits.")
    metric = space.metric(distance, unit="km" if isinstance(space, Places) and distance != "hamming" else None)
    console = Screen()
    console.print(_attacks(mechanism, prior, metric, sharper))
    console.print(_leakage(mechanism, prior))
    if learned:
        console.print(_learned(mechanism, prior))


def _attacks(mechanism: Mechanism, prior: Prior, metric: Metric, sharper: float) -> object:
    from rich.table import Table

    from .. import attacks
    from ..core import hamming
    from ..rounding import amount, percent

    table = Table(title="Attacks (errors and hits under the prior)", title_justify="left")
    for heading in ("adversary", "expected error", "worst secret", "finds the secret"):
        table.add_column(heading, justify="left" if heading == "adversary" else "right")

    def row(name: str, found: Attack) -> None:
        hits = "" if found.hit_rate is None else percent(found.hit_rate)
        table.add_row(name, amount(found.error, found.unit), amount(found.worst_case_error, found.unit), hits)

    row("sees nothing", attacks.blind(prior, metric))
    row("errs least (optimal)", attacks.optimal(mechanism, prior, metric))
    row(
        "hits most (likeliest secret)",
        _in(metric, mechanism, prior, attacks.optimal(mechanism, prior, hamming(prior.space))),
    )
    row("guesses from the posterior (Bayes)", attacks.bayes(mechanism, prior, metric))
    row("knows no prior", attacks.unweighted(mechanism, prior, metric))
    row("fears the worst prior", attacks.prior_free(mechanism, prior, metric))
    belief = prior.sharpened(sharper)
    row("is surer of two places than is true", attacks.misinformed(mechanism, prior, metric, belief))
    return table


def _in(metric: Metric, mechanism: Mechanism, prior: Prior, found: Attack) -> Attack:
    from .. import attacks

    return attacks.evaluate(mechanism, prior, metric, found.strategy)


def _leakage(mechanism: Mechanism, prior: Prior) -> object:
    from rich.table import Table

    from .. import leakage
    from ..rounding import percent

    capacity = leakage.shannon_capacity(mechanism)
    table = Table(title="Leakage", title_justify="left", show_header=False)
    rows = {
        "hit with one guess, before the report": percent(leakage.prior_vulnerability(prior)),
        "hit with one guess, after it": percent(leakage.bayes_vulnerability(mechanism, prior)),
        "min-entropy leakage": f"{leakage.min_entropy_leakage_bits(mechanism, prior):.3f} bits",
        "min-entropy capacity (over all priors)": f"{leakage.min_entropy_capacity_bits(mechanism):.3f} bits",
        "entropy of the prior": f"{prior.entropy_bits:.3f} bits",
        "mutual information": f"{leakage.mutual_information_bits(mechanism, prior):.3f} bits",
        "left after it (conditional entropy)": f"{leakage.conditional_entropy_bits(mechanism, prior):.3f} bits",
        "Shannon capacity": f"{capacity.lower_bits:.3f} to {capacity.upper_bits:.3f} bits",
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def _learned(mechanism: Mechanism, prior: Prior) -> object:
    from rich.table import Table

    from ..attacks.learned import Examples, GradientBoosting, NearestNeighbours, RandomForest
    from ..attacks.learned import learned as trained
    from ..leakage import bayes_error
    from ..rounding import percent

    examples = Examples.of_mechanism(mechanism, prior, _EXAMPLES, seed=1)
    table = Table(
        title=f"Learned from {_EXAMPLES // 2:,} simulated reports, judged on as many", title_justify="left"
    )
    table.add_column("adversary")
    table.add_column("wrong guesses of the secret", justify="right")
    for rule in (NearestNeighbours(), RandomForest(), GradientBoosting(rounds=20)):
        table.add_row(rule.name, percent(trained(examples, rule, seed=1).error))
    table.add_row("who knows mechanism and prior (least possible)", percent(bayes_error(mechanism, prior)))
    return table
