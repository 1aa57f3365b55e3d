"""``sfumato attack``: attacks on a mechanism file, and its leakage."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..messages import option as named
from ..options import People, SfmFile, SkipDamaged, User
from ..place_options import visits_from
from ..progress import working

if TYPE_CHECKING:
    from ...attacks import Attack, Goals
    from ...core import Mechanism, Metric, Prior, Side
    from ...geo import Visits
    from ..screen import Screen

_EXAMPLES = 20_000
_ROUNDS = 20  # of boosting, at most
_TREES = 400  # about as many in all
_MAIN = 2  # secrets of highest prior that are main ones, such as home and work
_BLIND = "no report"


def command(
    file: SfmFile,
    visits: Annotated[
        Path | None,
        typer.Option(
            help="Take the true prior from these visits, not from the file; 'city' names the built-in city's."
        ),
    ] = None,
    user: User = None,
    people: People = None,
    skip_damaged: SkipDamaged = False,
    distance: Annotated[
        str, typer.Option(help="The distance of errors: euclidean, great-circle, hamming and others.")
    ] = "euclidean",
    informed: Annotated[
        float,
        typer.Option(
            help="How often the informed attacker learns whether the secret is one of the two most probable."
        ),
    ] = 0.5,
    misinformed: Annotated[
        float,
        typer.Option(
            help="How much of their belief the misinformed (overconfident) attacker wrongly moves to the two "
            "most probable secrets."
        ),
    ] = 0.5,
    sharper: Annotated[
        float | None,
        typer.Option(
            help="Also attack as if this share of all visits moved to the two most probable secrets: with and "
            "without the attacker knowing it."
        ),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(help="Also print how often the best guess is this near to the true point: '500 m'."),
    ] = None,
    learned: Annotated[
        bool,
        typer.Option("--learned", help="Also try attackers who learn from simulated reports (extra learn)."),
    ] = False,
) -> None:
    """Attack a mechanism, and measure its leakage."""
    from ... import attacks
    from ...core import Prior
    from ...errors import InputError
    from ...files import read_mechanism_file
    from ...geo import Lattice, Places
    from ...proofs import PlaceDistortion
    from ...reports.facts import point_attacks, risk_within, subject_of
    from ...reports.sentences import attack_words, risk_words
    from ..mechanism_files import coarse_of
    from ..screen import Screen

    shares = {"--informed": informed, "--misinformed": misinformed, "--sharper": sharper}
    for option, share in shares.items():
        if share is not None and not 0 <= share <= 1:
            raise InputError(f"{option} {share:g} is not between 0 and 1.", f"write it as '{option} 0.5'.")
    held = read_mechanism_file(file)
    if within is not None and not held.has_matrix:
        raise InputError(
            f"--within was given, but {file} holds noise, for which this is not proved.",
            "leave it out",
            "design with --attacker-finds, which gives a mechanism for which it is proved.",
        )
    read = None if visits is None else visits_from(visits, people=people, skip_damaged=skip_damaged)[0]
    chosen: Visits | None = None
    if not held.has_matrix:
        with named(str(file)):
            coarse = coarse_of(held, read)
        mechanism, about_cells = coarse.mechanism, coarse.sentence
    else:
        mechanism, about_cells = held.report_channel, ""
        if held.tupling is not None:
            with named(str(file)):
                mechanism = held.tupling.channel()
    space = mechanism.secrets
    prior = held.prior
    if read is not None:
        if not isinstance(space, Places):
            raise InputError(
                "the mechanism's secrets are not places, so visits cannot be read as its secrets.",
                "leave out --visits.",
            )
        chosen = read if user is None else read.of_user(user)
        prior = Prior.from_visits(space, chosen)
    elif user is not None:
        raise InputError("--user was given without --visits.", "add the file of visits.")
    elif people is not None:
        raise InputError("--people was given without --visits.", "add the file of visits.")
    elif skip_damaged:
        raise InputError("--skip-damaged was given without --visits.", "add the folder of visits.")
    if prior is None:
        raise InputError(f"{file} holds no prior.", "add --visits with a file of visits.")
    asked = next((each for each in held.guarantees if isinstance(each, PlaceDistortion)), None)
    if chosen is None and asked is not None:
        chosen = asked.visits  # as the file states them
    if within is not None and chosen is None:
        raise InputError(
            "--within was given without --visits, and the file does not say where the true points are.",
            "add --visits with the file of visits.",
        )
    metric = space.metric(distance, unit="km" if isinstance(space, Places) and distance != "hamming" else None)
    console = Screen()
    if held.whose:
        console.print(held.whose)
    if held.tupling is not None:
        console.print(
            f"The attackers see tuples of {held.tupling.queries:,} reports, in any order: {mechanism.shape[1]:,} "
            "are possible. Their probabilities were rounded when they were listed, so the numbers are not proved."
        )
    if chosen is not None:
        whose = "" if read is not None else "Of the visits that the file holds: "
        with working("Attacking"):
            found = point_attacks(mechanism if held.has_matrix else held.noise, chosen)
        subject = subject_of(held)
        for sentence in attack_words(found, subject):
            console.print(f"{whose}{sentence}")
        if within is not None:
            with named("--within"), working("Attacking within the radius"):
                risk = risk_within(mechanism, chosen, within)
            console.print(f"{whose}{risk_words(risk, subject)[0]}")
    if isinstance(space, Places):
        what = (
            "lattice points that positions are rounded to at random: the tables are about these"
            if isinstance(space, Lattice)
            else "cells: errors in the tables are between centres of cells"
        )
        more = "" if chosen is not None else " Add --visits for errors from the true point."
        console.print(f"{about_cells} The secrets are {what}, not about the true point.{more}".strip())
    with working("Attacking"):
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
    from ... import attacks
    from ...core import Side
    from ...core.naming import name_phrase
    from ...rounding import percent

    main = min(_MAIN, len(prior))
    information = attacks.main_place_information(prior, informed, places=main)
    belief = prior.sharpened(misinformed, places=main)
    learns = f"learns in {percent(informed)} of cases whether it is one of the two most probable"
    mistaken = f"overconfident by {percent(misinformed)} of the two most probable"
    others = (
        attacks.bayes(mechanism, prior, metric),
        attacks.unweighted(mechanism, prior, metric),
        attacks.prior_free(mechanism, prior, metric),
    )
    rows = [
        (f"{_BLIND}, {goals.near_blind.description}", goals.near_blind, Side.ESTIMATE),
        (f"{_BLIND}, {goals.hit_blind.description}", goals.hit_blind, Side.ESTIMATE),
        *((f"{each.name}: {each.description}", each, Side.AT_LEAST) for each in (goals.near, goals.hit, *others)),
        (f"informed: {learns}", attacks.informed(mechanism, prior, metric, information), Side.AT_LEAST),
        (f"misinformed: {mistaken}", attacks.misinformed(mechanism, prior, metric, belief), Side.AT_LEAST),
    ]
    errors = f"errors in {name_phrase(metric.name, 'distance')}"
    _print_rows(console, f"Attacks ({errors}; errors and hits under the prior)", rows)


def _print_sharper(console: Screen, mechanism: Mechanism, prior: Prior, metric: Metric, share: float) -> None:
    from ... import attacks
    from ...core import Side
    from ...rounding import percent

    truth = prior.sharpened(share, places=min(_MAIN, len(prior)))
    goals = attacks.goals(mechanism, truth, metric)
    expected = attacks.misinformed(mechanism, truth, metric, prior)
    _print_rows(
        console,
        f"If {percent(share)} of all visits moved to the two most probable (errors and hits under that)",
        [
            (f"{_BLIND}, knows this", goals.near_blind, Side.ESTIMATE),
            ("informed: knows this, smallest error", goals.near, Side.AT_LEAST),
            ("as the design expects: believes the prior", expected, Side.AT_LEAST),
        ],
    )


def _print_rows(console: Screen, title: str, rows: list[tuple[str, Attack, Side]]) -> None:
    """Print attacks; the side is that of the errors, and hits are on the other one."""
    from ...core import Side
    from ..screen import print_table

    cells = []
    for name, found, side in rows:
        hits = Side.ESTIMATE if side is Side.ESTIMATE else Side.AT_MOST
        cells.append(
            (
                name,
                side.amount(found.error, found.unit),
                side.amount(found.worst_case_error, found.unit),
                "" if found.hit_rate is None else hits.percent(found.hit_rate),
            )
        )
    headings = ("attacker", "expected error", "error at the worst secret", "finds the secret")
    print_table(console, title, headings, cells)


def _print_leakage(console: Screen, goals: Goals, mechanism: Mechanism, prior: Prior) -> None:
    from ... import leakage
    from ...rounding import about, at_least, at_most, percent, percent_at_most
    from ..screen import print_table

    capacity = leakage.shannon_capacity(mechanism)
    rows = {
        "finds the secret with one guess, without the report": percent(goals.blind_hit_rate),
        "finds the secret with one guess, with it": percent_at_most(goals.hit_rate),
        "min-entropy leakage": f"{at_most(leakage.min_entropy_leakage_bits(mechanism, prior))} bits",
        "min-entropy capacity (over all priors)": f"{at_most(leakage.min_entropy_capacity_bits(mechanism))} bits",
        "entropy of the prior": f"{about(prior.entropy_bits)} bits",
        "mutual information": f"{at_most(leakage.mutual_information_bits(mechanism, prior))} bits",
        "remaining entropy": f"{at_least(leakage.conditional_entropy_bits(mechanism, prior))} bits",
        "Shannon capacity": f"{at_least(capacity.bits.lower)} to {at_most(capacity.bits.upper)} bits",
    }
    print_table(console, "Leakage", ("", ""), list(rows.items()))


def _print_learned(console: Screen, goals: Goals, mechanism: Mechanism, prior: Prior) -> None:
    from ...attacks.learned import Examples, GradientBoosting, NearestNeighbours, RandomForest
    from ...attacks.learned import learned as trained
    from ...rounding import percent, percent_at_most
    from ..screen import print_table

    examples = Examples.of_mechanism(mechanism, prior, _EXAMPLES, seed=1)
    # Boosting grows a tree for each secret in each round, and takes minutes where both are many.
    boosting = GradientBoosting(rounds=max(2, min(_ROUNDS, _TREES // len(prior))))
    rules = (NearestNeighbours(), RandomForest(), boosting)
    rows = [(rule.name, percent(trained(examples, rule, seed=1).hit_rate)) for rule in rules]
    rows.append(("knows mechanism and prior (the most possible)", percent_at_most(goals.hit_rate)))
    print_table(
        console,
        f"Learned from {_EXAMPLES // 2:,} simulated reports, judged on as many",
        ("attacker", "finds the secret"),
        rows,
    )
