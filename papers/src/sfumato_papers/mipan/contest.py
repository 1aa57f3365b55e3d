"""Users of a city: labels to hide in visits, and a contest of mechanisms that hide them at the same loss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.core import AnyLoss, Mechanism, Prior, Space
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import DataError
from sfumato.geo import Grid, Projection, Visits
from sfumato.learning import Pairs, hiding, learn_table
from sfumato.mechanisms import match_loss, planar_geometric, rate_distortion_of_loss, remap_mechanism
from sfumato.optimal import least_vulnerability

from .square import GAP, NO_NOISE, OPTIMUM, TABLE

NOISE: Final = "planar geometric"
REMAP: Final = "planar geometric + remap"
EXPOST: Final = "ExPost"

Measures = tuple[float, float, float, float, float]
"""Error and loss on the training visits; on the held-out ones, the error of both guesses and the loss."""

_BRACKET_PER_M: Final = (0.05, 1e-4)  # epsilon of noise that hardly moves a report, and that forgets the place
_HOMES: Final = ("home_area", "area")  # columns with homes; the first that exists is used
_LEAST: Final = 10  # visits in the region of each hidden user
_STEP_M: Final = 500.0  # between the corners of regions that are tried
_DEGREES: Final = 0.01  # the squares of which the busiest one lies in the region


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HiddenLabel(CompactRepr):
    """A label to hide, and its visits in the cells of a region."""

    source: str
    name: str  # of the label
    cells: Grid
    data: Pairs  # users are numbers, from the most frequent visitor on


@dataclass(frozen=True, slots=True, repr=False)
class ContestRow(CompactRepr):
    """A mechanism that hides a label, within a largest expected loss."""

    source: str
    hidden: str  # label that is hidden
    labels: int  # number of its values
    seed: int  # of the split and the training
    max_loss_m: float  # largest expected loss allowed
    mechanism: str
    error: float  # of the best guess on the training visits
    loss_m: float  # expected loss there
    held_out_error: float  # of the best guess for the held-out visits: no attacker does better
    held_out_error_learned: float  # of the guess that is best for the training visits
    held_out_loss_m: float
    largest_error: float  # proved bound for all mechanisms of that loss, training visits, one report each
    blind_error: float  # of the best guess without a report, training visits

    @property
    def of_users(self) -> bool:
        """Whether the label is the user."""
        return self.hidden == users_label(self.labels)


def users_label(users: int) -> str:
    """Return the name of the label that is one of several users."""
    return f"{users} users"


def contest(label: HiddenLabel, max_loss_m: float, *, rounds: int = 120, seed: int = 1) -> list[ContestRow]:
    """Return what each mechanism of at most this loss hides, on four fifths of the visits and on the rest."""
    cells = label.cells
    learning, judging = label.data.split(0.8, seed=seed)
    joint, fresh = learning.joint(cells), judging.joint(cells)
    loss = cells.metric("euclidean", unit="m")
    prior = Prior(cells, joint.sum(axis=0))
    best = least_vulnerability(joint, cells, loss, max_loss_m, gap=GAP)
    half = max(1, len(learning) // 2)
    table = learn_table(joint, cells, loss, max_loss_m, records=half, rounds=rounds, seed=seed, device="cpu")

    def match(family: Callable[[float], Mechanism]) -> Mechanism:
        return match_loss(family, prior, loss, max_loss_m, _BRACKET_PER_M).mechanism

    mechanisms: Mapping[str, Mechanism] = {
        NO_NOISE: Mechanism(np.eye(len(cells)), cells, cells),
        NOISE: match(lambda epsilon: planar_geometric(cells, epsilon)),
        REMAP: match(lambda epsilon: remap_mechanism(planar_geometric(cells, epsilon), prior, loss)),
        EXPOST: rate_distortion_of_loss(prior, loss, max_loss_m).mechanism,
        TABLE: table.mechanism,
        OPTIMUM: best.mechanism,
    }
    measures = {name: measure(mechanism, joint, fresh, loss) for name, mechanism in mechanisms.items()}
    head, bounds = (
        (label.source, label.name, len(label.data.space), seed, max_loss_m),
        (1 - best.lower_bound, learning.blind_error),
    )
    return [ContestRow(*head, name, *values, *bounds) for name, values in measures.items()]


def measure(mechanism: Mechanism, joint: Floats, fresh: Floats, loss: AnyLoss) -> Measures:
    """Return the measures of a mechanism."""
    known, later = hiding(mechanism, joint, loss), hiding(mechanism, fresh, loss)
    guesses = (joint @ mechanism.matrix).argmax(axis=0)
    right = float((fresh @ mechanism.matrix)[guesses, np.arange(len(guesses))].sum())
    return known.error, known.loss, later.error, 1 - right, later.loss


def busiest(visits: Visits, size_m: tuple[float, float], cell_m: float) -> Grid:
    """Return the cells of the region with most visits around the busiest square of 0.01 degrees."""
    if not len(visits):
        raise DataError("there is no visit.", "give a file of visits.")
    squares = np.floor(np.column_stack([visits.lat, visits.lon]) / _DEGREES)
    distinct, counts = np.unique(squares, axis=0, return_counts=True)
    lat, lon = (distinct[int(counts.argmax())] + 0.5) * _DEGREES
    plane = Projection(float(lat), float(lon))
    near = (abs(visits.lat - lat) < 1) & (abs(visits.lon - lon) < 1)
    xy = plane.forward(visits.lat[near], visits.lon[near])
    steps = np.floor(xy / _STEP_M).astype(int)
    half = int(max(size_m) // _STEP_M)
    steps = steps[(abs(steps) <= half).all(axis=1)] + half
    many = np.zeros((2 * half + 1, 2 * half + 1))
    np.add.at(many, (steps[:, 0], steps[:, 1]), 1)
    wide, high = (int(side // _STEP_M) for side in size_m)
    sums = np.lib.stride_tricks.sliding_window_view(many, (wide, high)).sum(axis=(2, 3))
    corner = (np.array(np.unravel_index(int(sums.argmax()), sums.shape)) - half) * _STEP_M
    columns, rows = (round(side / cell_m) for side in size_m)
    return Grid(columns, rows, (cell_m, cell_m), (float(corner[0]), float(corner[1])), plane.crs)


def hidden_labels(
    source: str, visits: Visits, users: tuple[int, ...], size_m: tuple[float, float], cell_m: float
) -> list[HiddenLabel]:
    """Return the labels to hide: the most frequent visitors, and the two most frequent home areas."""
    if visits.user is None:
        raise DataError(
            f"{source}: the visits have no user column, and users are to be hidden.", "give a file that has one."
        )
    cells = busiest(visits, size_m, cell_m)
    inside = visits.select(cells.inside(visits.lat, visits.lon))
    present = [user for user, count in inside.users().items() if count >= _LEAST]
    if len(present) < 2:
        raise DataError(
            f"{source}: fewer than two users have {_LEAST} visits in a region of {size_m[0] / 1000:g} km x "
            f"{size_m[1] / 1000:g} km.",
            "give visits of people who have more, with a column that says whose each is.",
        )
    labels = []
    for many in dict.fromkeys(min(many, len(present)) for many in users):
        pairs = Pairs.of_visits(inside, cells, values=present[:many])
        numbers = Space(range(1, many + 1))
        data = Pairs((pairs.classes + 1).tolist(), pairs.points, "m", numbers)
        labels.append(HiddenLabel(source, users_label(many), cells, data))
    for column in _HOMES:
        if column in visits.attributes:
            counts = Counter(value for value in inside.attributes[column].tolist() if value)
            common = [str(value) for value, count in counts.most_common(2) if count >= _LEAST]
            if len(common) == 2:
                homes = Pairs.of_visits(inside, cells, column, values=common)
                labels.append(HiddenLabel(source, " or ".join(common), cells, homes))
            break
    return labels
