"""``sfumato attack``: what attackers achieve against a mechanism file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .places import visits_from

if TYPE_CHECKING:
    from ..attacks import Attack, Goals
    from ..core import Mechanism, Metric, Prior
    from .screen import Screen

_EXAMPLES = 20_000
_MAIN = 2  # how many of the likeliest secrets are main ones, such as home and work
_BLIND = "no report"


def attack(
    file: Annotated[Path, typer.Argument(help="A mechanism file (.sfm).")],
    visits: Annotated[
        Path | None, typer.Option(help="Take the true prior from these visits instead of the file.")
    ] = None,
    user: Annotated[str | None, typer.Option(help="Only this user's visits.")] = None,
    distance: Annotated[
        str, typer.Option(help="How errors count: euclidean, great-circle, hamming, ...")
    ] = "euclidean",
    informed: Annotated[
        float,
        typer.Option(
            help="The informed attacker is told, in this share of the cases, whether the secret is one of the two "
            "likeliest."
        ),
    ] = 0.5,
    misinformed: Annotated[
        float,
        typer.Option(
            help="The misinformed (overconfident) attacker wrongly moves this share of their belief to the two "
            "likeliest secrets."
        ),
    ] = 0.5,
    sharper: Annotated[
        float | None,
        typer.Option(
            help="Also attack as if this share of all visits moved to the two likeliest secrets: by someone who "
            "knows it, and by someone who believes the prior."
        ),
    ] = None,
    learned: Annotated[
        bool, typer.Option("--learned", help="Also attackers who learn from simulated reports (extra learn).")
    ] = False,
) -> None:
    """Attack a mechanism with every attacker that fits, and measure what leaks."""
    from .. import attacks
    from ..core import Prior
    from ..errors import InputError
    from ..files import read
    from ..geo import Places
    from .screen import Screen

    shares = {"--informed": informed, "--misinformed": misinformed, "--sharper": sharper}
    for option, share in shares.items():
        if share is not None and not 0 <= share <= 1:
            raise InputError(f"{option} {share:g} is not between 0 and 1.", f"write it as '{option} 0.5'.")
    held = read(file).alone()
    mechanism = held.mechanism
    space = mechanism.secrets
    prior = held.prior
    if visits is not None:
        if not isinstance(space, Places):
            raise InputError(
                "the mechanism's secrets are not places, so visits cannot be read as its secrets.",
                "leave out --visits.",
            )
        found, _ = visits_from(visits, None, None, None)
        prior = Prior.from_visits(space, found, user=user)
    elif user is not None:
        raise InputError("--user was given without --visits.", "add the file of visits.")
    if prior is None:
        raise InputError("the file holds no prior.", "pass --visits to take it from visits.")
    metric = space.metric(distance, unit="km" if isinstance(space, Places) and distance != "hamming" else None)
    console = Screen()
    goals = attacks.goals(mechanism, prior, metric)
    _print_attacks(console, goals, mechanism, prior, metric, informed, misinformed)
    if sharper is not None:
        _print_sharper(console, mechanism, prior, metric, sharper)
    _print_leakage(console, goals, mechanism, prior)
    if learned:
        _print_learned(console, goals, mechanism, prior)


def _print_attacks(
    console: Screen,
    goals: Goals,
    mechanism: Mechanism,
    prior: Prior,
    metric: Metric,
    informed: float,
    misinformed: float,
) -> None:
    from .. import attacks
    from ..rounding import percent

    main = min(_MAIN, len(prior))
    told = attacks.told_of_main_places(prior, informed, places=main)
    belief = prior.sharpened(misinformed, places=main)
    knowing = f"informed: told in {percent(informed)} of cases whether it is one of the two likeliest"
    mistaken = f"misinformed: overconfident by {percent(misinformed)} of the two likeliest"
    rows = {
        f"{_BLIND}, guesses to err least": goals.near_blind,
        f"{_BLIND}, guesses the likeliest": goals.hit_blind,
        "optimal: errs least": goals.near,
        "likeliest: finds the secret most often": goals.hit,
        "Bayesian: draws from the posterior": attacks.bayes(mechanism, prior, metric),
        "unweighted: knows no prior": attacks.unweighted(mechanism, prior, metric),
        "prior-free: expects the worst prior": attacks.prior_free(mechanism, prior, metric),
        knowing: attacks.informed(mechanism, prior, metric, told),
        mistaken: attacks.misinformed(mechanism, prior, metric, belief),
    }
    _print_rows(console, f"Attacks (errors in {metric.name} distance; errors and hits under the prior)", rows)


def _print_sharper(console: Screen, mechanism: Mechanism, prior: Prior, metric: Metric, share: float) -> None:
    from .. import attacks
    from ..rounding import percent

    truth = prior.sharpened(share, places=min(_MAIN, len(prior)))
    goals = attacks.goals(mechanism, truth, metric)
    _print_rows(
        console,
        f"If {percent(share)} of all visits moved to the two likeliest (errors and hits under that)",
        {
            f"{_BLIND}, knows this": goals.near_blind,
            "informed: knows this, errs least": goals.near,
            "as the design expects: believes the prior": attacks.misinformed(mechanism, truth, metric, prior),
        },
    )


def _print_rows(console: Screen, title: str, rows: dict[str, Attack]) -> None:
    from ..rounding import amount, amount_at_least, percent, percent_at_most
    from .tables import print_table

    cells = []
    for name, found in rows.items():
        # What is known without a report is no promise: it is told as in the report and below.
        error, share = (amount, percent) if name.startswith(_BLIND) else (amount_at_least, percent_at_most)
        cells.append(
            (
                name,
                error(found.error, found.unit),
                error(found.worst_case_error, found.unit),
                "" if found.hit_rate is None else share(found.hit_rate),
            )
        )
    headings = ("attacker", "expected error", "error at the worst secret", "finds the secret")
    print_table(console, title, headings, cells)


def _print_leakage(console: Screen, goals: Goals, mechanism: Mechanism, prior: Prior) -> None:
    from .. import leakage
    from ..rounding import about, at_least, at_most, percent, percent_at_most
    from .tables import print_table

    capacity = leakage.shannon_capacity(mechanism)
    rows = {
        "finds the secret with one guess, without the report": percent(goals.blind_hit_rate),
        "finds the secret with one guess, with it": percent_at_most(goals.hit_rate),
        "min-entropy leakage": f"{at_most(leakage.min_entropy_leakage_bits(mechanism, prior))} bits",
        "min-entropy capacity (over all priors)": f"{at_most(leakage.min_entropy_capacity_bits(mechanism))} bits",
        "entropy of the prior": f"{about(prior.entropy_bits)} bits",
        "mutual information": f"{at_most(leakage.mutual_information_bits(mechanism, prior))} bits",
        "remaining entropy": f"{at_least(leakage.conditional_entropy_bits(mechanism, prior))} bits",
        "Shannon capacity": f"{at_least(capacity.lower_bits)} to {at_most(capacity.upper_bits)} bits",
    }
    print_table(console, "Leakage", ("", ""), list(rows.items()))


def _print_learned(console: Screen, goals: Goals, mechanism: Mechanism, prior: Prior) -> None:
    from ..attacks.learned import Examples, GradientBoosting, NearestNeighbours, RandomForest
    from ..attacks.learned import learned as trained
    from ..rounding import percent, percent_at_most
    from .tables import print_table

    examples = Examples.of_mechanism(mechanism, prior, _EXAMPLES, seed=1)
    rules = (NearestNeighbours(), RandomForest(), GradientBoosting(rounds=20))
    rows = [(rule.name, percent(1 - trained(examples, rule, seed=1).error)) for rule in rules]
    rows.append(("knows mechanism and prior (the most possible)", percent_at_most(goals.hit_rate)))
    print_table(
        console,
        f"Learned from {_EXAMPLES // 2:,} simulated reports, judged on as many",
        ("attacker", "finds the secret"),
        rows,
    )
