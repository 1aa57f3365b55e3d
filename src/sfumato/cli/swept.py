"""A sweep on the screen: its table, and the meaning of its amounts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ..optimal import Design, Point
    from .screen import Screen
    from .sites import Site

_CENTRES: Final = (
    "Epsilon is between the centres of cells: two people a metre apart, on the two sides of a border, count as "
    "far apart as the centres of their cells."
)

_KINDS: Final = {"program": "program", "noise": "planar noise"}


def meaning_of(site: Site, rates: list[float], *, true_errors: bool) -> str:
    """Return what epsilon is between, what the amounts are counted from, and why the lattice is as it is.

    Args:
        site: Where the designs were made.
        rates: The epsilons, per km or per unit of the site's distances.
        true_errors: Whether the attacker's errors are counted from the true point.
    """
    from ..core import Metric
    from ..geo import Lattice
    from ..rounding import at_most

    said = []
    if isinstance(site.places, Lattice):
        said += ["Epsilon is between any two points, wherever they are."] if rates else []
        said.append("Loss and errors are distances from the true point, and the attacker guesses any point.")
    else:
        said += [_CENTRES] if rates else []
        if not isinstance(site.costs, Metric):
            said.append("Loss is the distance from the true point.")
        if true_errors:
            said.append("The attacker errs from the true point, and guesses any point.")
    if site.said and len(rates) > 1:
        said.append(f"All designs are on one lattice, for the largest epsilon, {at_most(max(rates), 6)}/km.")
    return " ".join([*said, site.said]).strip()


def news_of(point: Point) -> str:
    """Return a line about a design that is there."""
    from ..rounding import about, amount_at_most, percent_at_most

    parts = [point.who]
    parts += [] if point.epsilon is None else [f"epsilon {about(point.epsilon, 6)}"]
    parts += [] if point.minimum is None else [f"distortion {about(point.minimum, 6)}"]
    if point.design is None:
        return f"{', '.join(parts)}: no design"
    loss = amount_at_most(point.loss, point.loss_unit) if point.loss_unit else percent_at_most(point.loss)
    return f"{', '.join(parts)}: {_KINDS[point.design.kind]}, loses at most {loss} ({point.design.seconds:.1f} s)"


def print_points(console: Screen, points: list[Point], unit: str, *, vertices: bool, ties: bool) -> None:
    """Print the table of a sweep, and what kept designs from being finished.

    Args:
        console: Where to print.
        points: The points.
        unit: The unit of the attacker's errors.
        vertices: Whether the secrets are vertices of a lattice.
        ties: Whether to say how ties were broken.
    """
    from ..core.units import per_unit
    from ..rounding import amount_at_least, amount_at_most, at_most, gap_at_most, percent_at_most
    from .screen import print_table

    headings = (
        "prior",
        f"epsilon{per_unit(unit)}",
        "distortion asked",
        *(["mechanism"] if vertices else []),
        "loss",
        "gap",
        "attacker errs by",
        "finds the vertex" if vertices else "finds the secret",
        "seconds",
    )
    rows = []
    for point in points:
        epsilon = "" if point.epsilon is None else at_most(point.epsilon, 6)
        minimum = "" if point.minimum is None else amount_at_least(point.minimum, unit)
        asked = (point.who, epsilon, minimum)
        if point.design is None:
            rows.append((*asked, *([""] if vertices else []), "none", "", "", "", ""))
            continue
        kind = [_KINDS[point.design.kind]] if vertices else []
        loss = percent_at_most(point.loss) if not point.loss_unit else amount_at_most(point.loss, point.loss_unit)
        errs, took = amount_at_least(point.distortion, unit), f"{point.design.seconds:.1f}"
        if not point.design.has_program:
            rows.append((*asked, *kind, loss, "-", errs, "-", took))
        else:
            gap, hits = gap_at_most(point.design.certificate.gap), percent_at_most(point.hit_rate)
            rows.append((*asked, *kind, loss, gap, errs, hits, took))
    print_table(console, "Frontier", headings, rows, text=(0, 3) if vertices else (0,))
    for reason in sorted({f"{point.who}: {point.reason}" for point in points if point.design is None}):
        console.print(f"No design for {reason}")
    short = [point.design for point in points if point.design is not None and not point.design.finished]
    if short:
        reasons = ", ".join(sorted({_ended(design) for design in short}))
        console.print(f"NOT FINISHED: {len(short)} of {len(points)} designs ({reasons}).")
    if ties:  # where loss and the attacker's error are the same distance, equal loss is equal privacy
        for sentence in _ties([point.design for point in points if point.design and point.design.has_program]):
            console.print(sentence)
    for sentence in _noise(points):
        console.print(sentence)


def _ended(design: Design) -> str:
    if design.has_program:
        return design.status.value
    return "the program was stopped before it was proved to lose more than planar noise"


def _noise(points: list[Point]) -> list[str]:
    """Say what is different about planar noise, and where it was not looked at."""
    from ..rounding import amount_at_most

    said = []
    noises = [point.design for point in points if point.design and not point.design.has_program]
    if noises:
        slack = max(design.slack_m for design in noises)
        said.append(
            f"Planar noise with a remap was taken in {len(noises)} of {len(points)} designs, where it loses less "
            f"than the program. Its promise has a slack: two points may seem {amount_at_most(slack, 'm')} farther "
            "apart to it than they are."
        )
    made = sum(point.design is not None for point in points)
    for reason in dict.fromkeys(point.without_noise for point in points if point.without_noise):
        count = sum(point.without_noise == reason for point in points)
        said.append(f"In {count} of {made} designs planar noise was not looked at: {reason}.")
    return said


def _ties(designs: list[Design]) -> list[str]:
    """Say which of several mechanisms of equal loss were chosen."""
    from ..rounding import gap_at_most

    broken = [design.tie_gap for design in designs if design.tie_gap is not None]
    left = len(designs) - len(broken)
    said = []
    if broken:
        said.append(
            f"In {len(broken)} of {len(designs)} designs, among mechanisms of equal loss, one with the most "
            f"distortion privacy was chosen (within {gap_at_most(max(broken))} of the most)."
        )
    if left:
        said.append(
            f"In {left} of {len(designs)} designs no tie was broken: with another mechanism of equal loss an "
            "attacker may achieve more or less."
        )
    return said
