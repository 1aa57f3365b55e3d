"""``sfumato learn``: a mechanism that is trained to hide a column of the visits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ...errors import InfeasibleError, InputError, argument
from ..messages import PARTIAL, StopOnInterrupt, say, working
from ..options import Cell, Cells, Gap, MechanismOutput, Region, Seed, VisitsFile, VisitsOptions, options_of
from ..outputs import check_ending, check_outputs
from ..place_options import cells_over, max_loss_of, promise_of, visits_of

if TYPE_CHECKING:
    from ...core import Guarantee, Loss, Mechanism, Prior
    from ...geo import Places
    from ...learning import Ending, Pairs, Target, TrainingRound
    from ...optimal import Design

_GAP = 0.01  # of the certified optimum
_EPSILON_GAP = 1e-4  # relative, of the least loss under a promise


@dataclass(frozen=True, kw_only=True)
class LearnOptions(VisitsOptions):
    """The options of ``sfumato learn``."""

    visits: VisitsFile
    max_loss: Annotated[str, typer.Option(help="The largest average distance from report to true point: '500 m'.")]
    sensitive: Annotated[str | None, typer.Option(help="The column to hide; by default the user.")] = None
    most: Annotated[int, typer.Option(help="Hide this many of its values: those with the most visits.")] = 6
    target: Annotated[
        Literal["vulnerability", "information"],
        typer.Option(help="What to make small: hits of the best guess, or what a report reveals."),
    ] = "vulnerability"
    neural: Annotated[
        bool, typer.Option("--neural", help="Learn a neural network on points, then count its reports on cells.")
    ] = False
    epsilon: Annotated[str | None, typer.Option(help="Also guarantee this metric privacy: 1/km.")] = None
    cell: Cell = None
    cells: Cells = None
    region: Region = None
    held_out: Annotated[float, typer.Option(help="The share of the visits that judges the result.")] = 0.2
    rounds: Annotated[int, typer.Option(help="Train for at most this many rounds.")] = 120
    checkpoints: Annotated[Path | None, typer.Option(help="A file for the state; a rerun goes on from it.")] = None
    seed: Seed = 1
    output: MechanismOutput = None
    optimum: Annotated[Path | None, typer.Option(help="Write the certified optimum too (.sfm).")] = None
    gap: Gap = None
    time_limit: Annotated[float, typer.Option(help="Seconds for the certified optimum.")] = 600.0
    page: Annotated[Path | None, typer.Option("--report", help="Write a page with maps (.html).")] = None


@options_of(LearnOptions)
def command(options: LearnOptions) -> None:
    """Learn a mechanism that hides a column of the visits.

    The result is compared with the certified optimum, and judged on held-out visits.
    Where the optimum hides more, --optimum writes it; its reports may be anywhere.
    It guarantees nothing, except with --epsilon: then a proved design is post-processed.
    Exit code 3 if the training was stopped, the optimum is not within --gap, or the loss is above --max-loss.
    """
    from ...core import MetricPrivacy, Prior
    from ...files import MechanismFile, save
    from ...learning import Ending, Pairs, nearest, promised_within
    from ...optimal import INFORMATION, VULNERABILITY, Status, least_leak_on_plane
    from ...reports.document import LearningResult, Origin, file_facts, learn_page
    from ...reports.facts import promises_of, subject_of
    from ...reports.sentences import TRAINING_STOPPED, examples_words, formal_words
    from ...rounding import at_most
    from ..mechanism_files import command_line
    from ..screen import Screen, print_table

    check_ending(options.output, ".sfm")
    check_ending(options.page, ".html", page=True)
    check_ending(options.optimum, ".sfm")
    check_outputs([options.output, options.optimum, options.page, options.checkpoints], [options.visits])
    if options.optimum is not None and options.epsilon is not None:
        raise InputError(
            "--optimum was given with --epsilon, which it does not guarantee.", "leave one of them out."
        )
    for name, least in (("most", 2), ("rounds", 1), ("seed", 0)):
        if getattr(options, name) < least:
            raise InputError(f"--{name} {getattr(options, name)} is too small.", f"use at least {least}.")
    if not 0 < options.held_out < 1:
        raise InputError(
            f"--held-out {options.held_out:g} is not a share between 0 and 1.", "use 0.2 for a fifth."
        )
    if options.gap is not None and not 0 < options.gap < 1:
        raise InputError(f"--gap {options.gap:g} is not between 0 and 1.", "use 0.01 for 1 %.")
    if not options.time_limit > 0:
        raise InputError(f"--time-limit {options.time_limit:g} is not positive.", "use --time-limit 60.")
    max_loss_m = max_loss_of(options.max_loss, "m")
    visits, _ = visits_of(options.visits, options)
    places = cells_over(visits, options.region, options.cell, options.cells)
    if options.epsilon is not None:
        promise_of(options.epsilon, places.metric("euclidean", unit="km"), "--epsilon")
    data = Pairs.of_visits(visits, places, options.sensitive, most=options.most)
    learning, judging = data.split(1 - options.held_out, seed=options.seed)
    console = Screen()
    console.print(examples_words(len(learning), len(judging), len(data.space)))
    joint = learning.joint(places)
    loss = learning.loss(places)
    prior = Prior(places, joint.sum(axis=0))
    _check_limit(prior, loss, max_loss_m)
    certified = None
    if options.epsilon is not None:
        certified = _least_loss_design(prior, places, loss, options.epsilon, max_loss_m)
    with StopOnInterrupt() as stop, working("Learning (Ctrl-C keeps the best so far)") as update:

        def progress(step: TrainingRound) -> None:
            update(f"Round {step.number}: Bayes error {step.bayes_error:.4f}, loss {step.loss:.0f} m")

        first = None if certified is None else certified.mechanism
        mechanism, ending = _train(options, learning, places, max_loss_m, first, stop=stop, progress=progress)
    if ending is Ending.STOPPED:
        console.print(TRAINING_STOPPED)
    heading = "Finding the certified optimum (Ctrl-C keeps the best so far)"
    with StopOnInterrupt() as stop, working(heading):
        objective = VULNERABILITY if options.target == "vulnerability" else INFORMATION
        cells = nearest(learning.points, places)
        optimum = least_leak_on_plane(
            *(joint, places, learning.points, cells, max_loss_m),
            objective=objective,
            gap=_GAP if options.gap is None else options.gap,
            time_limit=options.time_limit,
            stop=lambda: stop.requested,
        )
    guarantees: list[Guarantee] = []
    promises: list[str] = []
    if certified is not None:
        guarantees = list(certified.problem.guarantees)
        promise = next(guarantee for guarantee in guarantees if isinstance(guarantee, MetricPrivacy))
        private = promised_within(mechanism, certified.mechanism, promise, prior, loss, max_loss_m)
        mechanism = private.mechanism.promising(guarantees)
        file = MechanismFile(mechanism, prior, loss, guarantees)
        promises = [line for fact in promises_of(file) for line in formal_words(fact, subject_of(file))]
        for sentence in promises:
            console.print(sentence)
    learned = LearningResult(mechanism, optimum, learning, judging, places, max_loss_m)
    print_table(console, learned.table.caption, learned.table.headings, learned.table.rows)
    for sentence in learned.sentences:
        console.print(sentence)
    if options.output is not None:
        save(MechanismFile(mechanism, prior, loss, guarantees), options.output)
        say(f"Written: {options.output}", err=True)
    if options.optimum is not None:
        exact = optimum.mechanism
        costs = learning.loss(places, places.on_plane(exact.observables))
        save(MechanismFile(exact, prior, costs, []), options.optimum)
        say(f"Written: {options.optimum}", err=True)
    elif learned.is_worse:
        say("Next: add --optimum best.sfm to write the certified optimum.")
    if options.page is not None:
        facts = file_facts(None, Origin(options.output, designed=command_line()))
        is_finished = ending is not Ending.STOPPED
        learn_page(learned, is_finished=is_finished, promises=promises, file=facts).save(options.page)
        say(f"Written: {options.page}", err=True)
    if optimum.status is Status.INACCURATE:
        say(f"Hint: accept this with --gap {at_most(optimum.gap, 2)}.", err=True)
    if ending is Ending.STOPPED or learned.warnings:
        raise typer.Exit(PARTIAL)


def _check_limit(prior: Prior, loss: Loss, max_loss_m: float) -> None:
    """Refuse a limit that the nearest centres exceed, before the training."""
    from ...rounding import amount, amount_at_least, amount_at_most

    least = float(prior.probabilities @ loss.array.min(axis=1))
    if max_loss_m <= least:
        raise InfeasibleError(
            f"a loss of at most {amount(max_loss_m, 'm')} was asked for, but even the nearest centres of these "
            f"cells are {amount_at_least(least, 'm')} from the true points on average.",
            f"allow {argument('max_loss', amount_at_most(1.1 * least, 'm', 2))}.",
            f"use smaller cells with {argument('cell')}.",
        )


def _least_loss_design(prior: Prior, places: Places, loss: Loss, epsilon: str, max_loss_m: float) -> Design:
    """Return the mechanism of least loss with metric privacy, if that is within the limit of the loss."""
    from ...core import MetricPrivacy
    from ...optimal import design
    from ...rounding import amount, amount_at_least, amount_at_most

    guarantee = MetricPrivacy(epsilon, places.metric("euclidean", unit="km"))
    with working(f"Finding the least loss at {guarantee}"):
        optimum = design(prior, loss=loss, guarantees=[guarantee], gap=_EPSILON_GAP)
    proof = optimum.certificate
    if max_loss_m < proof.loss:
        least = amount_at_least(proof.bound, "m", 4)
        raise InfeasibleError(
            f"a loss of at most {amount(max_loss_m, 'm')} was asked for, but at an epsilon of "
            f"{guarantee.epsilon:g}/km no mechanism that reports the centres of these cells loses less than "
            f"{least} on average.",
            f"allow {argument('max_loss', amount_at_most(proof.loss, 'm', 4))}.",
            f"ask for a larger {argument('epsilon')}.",
        )
    return optimum


def _train(
    options: LearnOptions,
    learning: Pairs,
    places: Places,
    max_loss_m: float,
    certified: Mechanism | None,
    **watch: Any,
) -> tuple[Mechanism, Ending]:
    """Return the mechanism on the cells, as post-processing of a certified one if given, and the ending."""
    from ...learning import (
        BayesVulnerability,
        MutualInformation,
        count_reports,
        learn_behind,
        learn_generator,
        learn_table,
    )

    aim: Target = MutualInformation()
    if options.target == "vulnerability":
        aim = BayesVulnerability() if options.neural else BayesVulnerability(8.0)
    settings: dict[str, Any] = {
        "target": aim,
        "rounds": options.rounds,
        "seed": options.seed,
        "checkpoint": options.checkpoints,
        **watch,
    }
    if options.neural:
        network = learn_generator(learning, max_loss_m, **settings)
        return count_reports(network, places, seed=options.seed).mechanism, network.ending
    joint, loss, records = learning.joint(places), learning.loss(places), len(learning) // 2
    if certified is not None:
        table = learn_behind(joint, certified, loss, max_loss_m, records=records, **settings)
    else:
        table = learn_table(joint, places, loss, max_loss_m, records=records, **settings)
    return table.mechanism, table.ending
