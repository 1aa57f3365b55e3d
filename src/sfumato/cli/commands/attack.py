"""``sfumato attack``: attacks on a mechanism file, and its leakage."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from typer import Option

from ...errors import InputError
from ..messages import option as name_option
from ..messages import working
from ..options import People, SfmFile, SkipDamaged, User, VisitsOptions
from ..place_options import optional_visits

if TYPE_CHECKING:
    from ...core import Randomizer
    from ...geo import Visits
    from ..screen import Screen

_HOME: Final = 2  # reports from home on a day


def command(
    file: SfmFile,
    visits: Annotated[
        Path | None,
        Option(help="Take the true prior from these visits, not from the file; 'city' names the built-in city's."),
    ] = None,
    user: User = None,
    people: People = None,
    skip_damaged: SkipDamaged = False,
    distance: Annotated[
        str, Option(help="The distance of errors: euclidean, great-circle, hamming and others.")
    ] = "euclidean",
    informed: Annotated[
        float,
        Option(help="How often the informed attacker learns whether the secret is one of the two most probable."),
    ] = 0.5,
    misinformed: Annotated[
        float,
        Option(
            help="How much of their belief the misinformed (overconfident) attacker wrongly moves to the two "
            "most probable secrets."
        ),
    ] = 0.5,
    sharper: Annotated[
        float | None,
        Option(
            help="Also attack as if this share of all visits moved to the two most probable secrets: with and "
            "without the attacker knowing it."
        ),
    ] = None,
    within: Annotated[
        str | None, Option(help="Also print how often the best guess is this near to the true point: '500 m'.")
    ] = None,
    schedule: Annotated[
        str | None,
        Option(help="Also attack days of reports: '6/km every 4 h'. The model is of other people in --visits."),
    ] = None,
    zone: Annotated[str, Option(help="The time zone of --schedule: Europe/Paris.")] = "UTC",
    learned: Annotated[
        bool, Option("--learned", help="Also try attackers who learn from simulated reports (extra learn).")
    ] = False,
) -> None:
    """Attack a mechanism, and measure its leakage."""
    from ...attacks import attack
    from ...core import Prior
    from ...files import read_mechanism_file
    from ...geo import Lattice, Places
    from ...reports.facts import point_attacks, risk_of, subject_of, visits_in
    from ...reports.sentences import attack_words, risk_words, table_words
    from ..mechanism_files import coarse_of
    from ..screen import Screen, print_table

    shares = {"--informed": informed, "--misinformed": misinformed, "--sharper": sharper}
    for option, share in shares.items():
        if share is not None and not 0 <= share <= 1:
            raise InputError(f"{option} {share:g} is not between 0 and 1.", f"write it as '{option} 0.5'.")
    content = read_mechanism_file(file)
    if within is not None and not content.has_matrix:
        raise InputError(
            f"--within was given, but {file} holds noise, for which this is not proved.",
            "leave it out",
            "design with --attacker-finds, which gives a mechanism for which it is proved.",
        )
    read = optional_visits(visits, user, VisitsOptions(people=people, skip_damaged=skip_damaged))
    target: Any
    with name_option(str(file)):
        if content.has_matrix:
            target = mechanism = (content.tupling or content.report_channel).channel()
            about_cells = ""
        else:
            target = coarse_of(content, read)
            mechanism, about_cells = target.mechanism, target.sentence
    space = mechanism.secrets
    prior, sample = content.prior, visits_in(content)  # as the file states them
    if read is not None:
        if not isinstance(space, Places):
            raise InputError(
                "the mechanism's secrets are not places, so visits cannot be read as its secrets.",
                "leave out --visits.",
            )
        sample = read if user is None else read.of_user(user)
        prior = Prior.from_visits(space, sample)
    if prior is None:
        raise InputError(f"{file} holds no prior.", "add --visits with a file of visits.")
    if within is not None and sample is None:
        raise InputError(
            "--within was given without --visits, and the file does not say where the true points are.",
            "add --visits with the file of visits.",
        )
    if schedule is not None and read is None:
        raise InputError("--schedule was given without --visits.", "add visits with users and times.")
    metric = space.metric(distance, unit="km" if isinstance(space, Places) and distance != "hamming" else None)
    with working("Attacking"), nullcontext() if within is None else name_option("--within"):
        result = attack(
            target,
            prior,
            metric=metric,
            visits=sample,
            within=within,
            informed=informed,
            misinformed=misinformed,
            sharper=sharper,
            learned=learned,
        )
    console = Screen()
    if not content.has_matrix and content.noise.remap is not None:
        console.print(table_words(content.source))
    if content.tupling is not None:
        console.print(
            f"The attackers see tuples of {content.tupling.queries:,} reports, in any order: "
            f"{mechanism.shape[1]:,} are possible. "
            "Their probabilities were rounded when they were listed, so the numbers are not proved."
        )
    if sample is not None:
        prefix = "" if read is not None else "Of the visits that the file holds: "
        subject = subject_of(content)
        sentences = [] if result.place is None else list(attack_words(point_attacks(result.place), subject))
        if within is not None and result.within is not None:
            sentences.append(risk_words(risk_of(within, *result.within), subject)[0])
        for sentence in sentences:
            console.print(f"{prefix}{sentence}")
    if isinstance(space, Places):
        kind = (
            "lattice points that positions are rounded to at random: the tables are about these"
            if isinstance(space, Lattice)
            else "cells: errors in the tables are between centres of cells"
        )
        more = "" if sample is not None else " Add --visits for errors from the true point."
        console.print(f"{about_cells} The secrets are {kind}, not about the true point.{more}".strip())
    with working("Attacking"):
        for table in result.tables():
            print_table(console, *table)
    if schedule is not None and read is not None:
        drawable = content.report_channel.channel() if content.has_matrix else content.noise
        _attack_days(drawable, read, user, schedule, zone, console)


def _attack_days(
    drawable: Randomizer, visits: Visits, user: str | None, text: str, zone: str, console: Screen
) -> None:
    """Print the guarantee of a day, attacks on days of real people, and on simulated homes."""
    from ...ledgers import Day
    from ...rounding import amount
    from ...sequences import attack_days, home_error
    from ..screen import print_table

    with name_option("--schedule"):
        day = Day.parse(text, zone=zone)
        console.print(day.check(drawable).sentence)
    with working("Attacking days"):
        errors = attack_days(drawable, visits, day.slots, zone, user=user)
        once, week, month = (
            home_error(drawable, reports, days) for reports, days in ((1, 1), (_HOME, 7), (_HOME, 30))
        )
    print_table(console, "Days of reports", ("attacker", "average error (95 %)"), errors.table)
    console.print(errors.sentence)
    console.print(
        f"If {_HOME} reports a day are from home, the strongest attacker that we know finds it within "
        f"{amount(week.value, 'm')} on average after 7 days, and {amount(month.value, 'm')} after 30 (simulated "
        f"homes). A named place repeats one report: then it stays at {amount(once.value, 'm')}."
    )
