"""``sfumato design``: from places to a proved mechanism, its file and a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError
from .console import PARTIAL, StopOnInterrupt, note, print_summary, progress_line, say, warn_of_extremes
from .outputs import check_outputs
from .places import cells_over, piped, prior_of, priors_of, visits_from
from .sweep import run_sweep
from .wording import option

if TYPE_CHECKING:
    from ..core import Guarantee, Metric, Prior
    from ..geo import Places
    from ..optimal import Design

DEFAULT_EPSILON = "1/km"


def design(
    visits: Annotated[
        Path | None,
        typer.Argument(help="Visits: CSV, Parquet, GeoParquet, GPX, ... Without it, a built-in synthetic city."),
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(help=f"Metric privacy, such as '0.6/km'. {DEFAULT_EPSILON} by default.")
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(help="Protect only places so near to each other ('500 m'); --epsilon is then a pure number."),
    ] = None,
    distortion: Annotated[
        str | None, typer.Option(help="The best attacker errs by at least this on average: '800 m'.")
    ] = None,
    max_loss: Annotated[
        str | None,
        typer.Option(help="Instead of least loss: most distortion at no more loss than this ('500 m')."),
    ] = None,
    loss: Annotated[
        str, typer.Option(help="What a report costs: euclidean, manhattan, great-circle, hamming.")
    ] = ("euclidean"),
    objective: Annotated[str, typer.Option(help="expected or worst-case loss.")] = "expected",
    metric: Annotated[
        str, typer.Option(help="Distance for privacy: euclidean, manhattan, great-circle.")
    ] = "euclidean",
    cell: Annotated[str | None, typer.Option(help="Size of the cells: '500 m' or '750 m x 533 m'.")] = None,
    cells: Annotated[str | None, typer.Option(help="Number of cells: columns x rows, '20x15'.")] = None,
    hexagons: Annotated[str | None, typer.Option(help="Hexagons of about this width ('500 m') instead.")] = None,
    region: Annotated[
        str | None, typer.Option(help="'south,west,north,east' or '8 km x 6 km around 48.85,2.35'.")
    ] = None,
    user: Annotated[str | None, typer.Option(help="Only this user's visits; by default everyone's.")] = None,
    smoothing: Annotated[float, typer.Option(help="Added to the visits of every cell.")] = 0.0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The mechanism file (.sfm), with the report beside it; in a sweep the table (.csv).",
        ),
    ] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds; then the best proved answer is written.")] = 600.0,
    gap: Annotated[
        float | None,
        typer.Option(
            help="Relative distance from the optimum to reach; by default 1e-6, and 1e-4 is near enough."
        ),
    ] = None,
    solver: Annotated[
        str,
        typer.Option(help="auto, structured (our interior point), highs, simplex or clarabel."),
    ] = "auto",
    pairs: Annotated[
        str,
        typer.Option(help="Rows of the program: generated, all, or spanner (for comparisons: costs some loss)."),
    ] = "generated",
    sweep: Annotated[
        str | None,
        typer.Option(
            help="Many epsilons instead of one: '0.15/km, 0.3/km' or '0.15..0.9/km:6'. Writes a table (.csv)."
        ),
    ] = None,
    sweep_distortions: Annotated[
        str | None, typer.Option(help="With or instead of --sweep, many distortions: '500 m, 1 km'.")
    ] = None,
    users: Annotated[
        int | None, typer.Option(help="In a sweep, one prior for each of the N users with the most visits.")
    ] = None,
    picture: Annotated[bool, typer.Option(help="Draw maps beside the file, if matplotlib is installed.")] = True,
    lat: Annotated[str | None, typer.Option(help="Name of the latitude column.")] = None,
    lon: Annotated[str | None, typer.Option(help="Name of the longitude column.")] = None,
    user_column: Annotated[str | None, typer.Option(help="Name of the user column.")] = None,
) -> None:
    """Design the mechanism of least loss for a stated privacy, and prove it.

    Writes the mechanism file (.sfm), a report (.md) and maps (.png); files of these
    names are replaced. The mechanism file holds the prior: anyone with it can see how often
    each place is visited.
    """
    from ..core import DistortionPrivacy, MetricPrivacy, ThresholdPrivacy, units
    from ..optimal import check_size

    sweeping = sweep is not None or sweep_distortions is not None
    target = _target(output, visits, sweeping=sweeping)
    endings = (".csv",) if sweeping else (".sfm", ".md")
    check_outputs([target.with_suffix(ending) for ending in (*endings, *((".png",) if picture else ()))], [visits])
    found, source = visits_from(visits, lat, lon, user_column)
    places = cells_over(found, region, cell, cells, hexagons)
    check_size(len(places), len(places), time_limit)
    with option("--metric"):
        distances = _ground(places, metric)
    with option("--loss"):
        costs = _ground(places, loss)
    if sweeping:
        for name, value in (("--epsilon", epsilon), ("--distortion", distortion), ("--within", within)):
            if value is not None:
                raise InputError(f"{name} was given beside a sweep.", "put its values into the sweep.")
        if max_loss is not None:
            raise InputError("--max-loss was given beside a sweep.", "sweep over epsilons or distortions.")
        if solver != "auto":
            raise InputError("--solver was given beside a sweep.", "leave it out: a sweep chooses by itself.")
        if pairs != "generated":
            raise InputError("--pairs was given beside a sweep.", "leave it out: a sweep chooses by itself.")
        priors = priors_of(places, found, user, users, smoothing)
        run_sweep(
            priors,
            costs,
            distances,
            sweep,
            sweep_distortions,
            target,
            objective=objective,
            gap=gap,
            time_limit=time_limit,
            picture=picture,
        )
        return
    if users is not None:
        raise InputError("--users was given without a sweep.", "add --sweep, or name one with --user.")
    if max_loss is not None and distortion is not None:
        raise InputError(
            "--distortion was given beside --max-loss, which looks for the most distortion.",
            "leave one of them out.",
        )
    if max_loss is not None and objective != "expected":
        raise InputError(
            "--objective was given beside --max-loss.", "leave it out: --max-loss bounds the expected loss."
        )
    prior, text = prior_of(places, found, user, smoothing, source)
    guarantees: list[Guarantee] = []
    if epsilon is None and distortion is None and max_loss is None:
        epsilon = "1" if within else DEFAULT_EPSILON
    if within is not None:
        if epsilon is None:
            raise InputError("--within was given without --epsilon.", "add --epsilon 1.")
        with option("--epsilon and --within"):
            guarantees.append(ThresholdPrivacy(epsilon, distances, within))
    elif epsilon is not None:
        with option("--epsilon"):
            guarantees.append(MetricPrivacy(epsilon, distances))
    if distortion is not None:
        with option("--distortion"):
            guarantees.append(DistortionPrivacy(distortion, distances))
    if max_loss is not None:
        with option("--max-loss"):
            units.parse(max_loss, unit=costs.unit, what="the largest loss")
    warn_of_extremes(guarantees)
    result = _solved(
        prior,
        distances,
        costs,
        guarantees,
        objective=objective,
        max_loss=max_loss,
        pairs=pairs,
        gap=gap,
        solver=solver,
        time_limit=time_limit,
    )
    _finish(result, distances, text, target, solver=solver, picture=picture)


def _solved(
    prior: Prior,
    distances: Metric,
    costs: Metric,
    guarantees: list[Guarantee],
    *,
    objective: str,
    max_loss: str | None,
    pairs: str,
    gap: float | None,
    solver: str,
    time_limit: float,
) -> Design:
    from ..optimal import design as least_loss
    from ..optimal import design_private

    unit = distances.unit if max_loss is not None else costs.unit
    with StopOnInterrupt() as stop, progress_line(unit) as report:
        if max_loss is not None:
            return design_private(
                prior,
                loss=costs,
                distance=distances,
                max_loss=max_loss,
                guarantees=guarantees,
                pairs=pairs,
                gap=gap,
                solver=solver,
                time_limit=time_limit,
                stop=stop,
                report=report,
            )
        return least_loss(
            prior,
            loss=costs,
            guarantees=guarantees,
            objective=objective,
            pairs=pairs,
            gap=gap,
            solver=solver,
            time_limit=time_limit,
            stop=stop,
            report=report,
        )


def _finish(result: Design, distances: Metric, source: str, target: Path, *, solver: str, picture: bool) -> None:
    from ..core.atomic import atomically
    from ..errors import MissingExtraError
    from ..evidence import as_dict
    from ..files import MechanismFile, save
    from ..optimal import Status
    from ..report import picture as draw
    from ..report import save_picture, summarise

    problem = result.problem
    summary = summarise(result, distances, source=source)
    claims = {"certificate": as_dict(result.certificate), "solver": result.solver, "status": result.status.name}
    held = MechanismFile(
        result.mechanism, problem.prior, problem.loss, problem.guarantees, claims, result.optimality
    )
    save(held, target)
    written = [target]
    report = target.with_suffix(".md")
    with atomically(report) as temporary:
        temporary.write_text(summary.markdown(), encoding="utf-8")
    written.append(report)
    print_summary(summary)
    if picture:
        try:
            image = target.with_suffix(".png")
            save_picture(draw(result.mechanism, problem.prior, distances), image)
            written.append(image)
        except MissingExtraError as error:
            note(error, "no maps were drawn.")
    say(f"Written: {', '.join(map(str, written))}")
    if not result.finished:
        if result.status is Status.INACCURATE:
            say(f"Hint: {_advice(result, solver)}.", err=True)
        raise typer.Exit(PARTIAL)


def _advice(result: Design, solver: str) -> str:
    """Say what can be done about a gap that a solver did not reach."""
    from math import prod

    from ..optimal.auto import SMALL
    from ..rounding import at_most

    accept = f"accept this with --gap {at_most(result.certificate.gap, 2)}"
    if solver != "auto":
        return f"try --solver auto, or {accept}"
    # On small problems the others have been asked.
    return accept if prod(result.problem.shape) <= SMALL else f"try --solver highs, or {accept}"


def _target(output: Path | None, visits: Path | None, *, sweeping: bool) -> Path:
    ending = ".csv" if sweeping else ".sfm"
    if output is None:
        name = "city" if visits is None else "mechanism" if piped(visits) else visits.stem or "mechanism"
        return Path(f"{name}-sweep.csv" if sweeping else name).with_suffix(ending)
    if output.suffix != ending:
        raise InputError(
            f"the output {str(output)!r} does not end in {ending}.", f"write it as {output.stem}{ending}."
        )
    return output


def _ground(places: Places, kind: str) -> Metric:
    """Return a metric on places, in kilometres where it counts lengths."""
    return places.metric(kind, unit=None if kind == "hamming" else "km")
