"""Groups of visits or rows: distributions to hide, and priors of which a design is for the worst."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from ..errors import DataError, InputError, row_value
from .audit_knowledge import TABLES, distributions_from, family_from, relation_from
from .messages import StopOnInterrupt, option, progress_line, say, working
from .options import ColumnOptions, DesignOptions, FamilyOptions
from .place_options import POINTS_GAP, labels_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..core import DesignGuarantee, Loss, Metric, Prior, Space
    from ..core.arrays import Floats
    from ..geo import Places, Visits
    from ..optimal import RobustDesign
    from ..proofs import FamilyPrivacy
    from .column_options import Column
    from .place_options import Site

_MOST_GROUPS: Final = 500
_WORST: Final = "was given with --priors, which designs for the worst prior"


class GroupPriors(NamedTuple):
    """Groups of visits or rows by name."""

    priors: dict[str, Prior]
    sizes: dict[str, int]  # visits or rows


class SeveralPriors(NamedTuple):
    """Priors by name, their losses, and their origin in words."""

    priors: dict[str, Prior]
    losses: Sequence[Loss | Metric]  # one for all, or one for each
    source: str


def check_alone(options: DesignOptions | ColumnOptions, names: Sequence[str]) -> None:
    """Refuse the options of these names, and others that have no meaning for several priors."""
    options.refuse(names, f"{_WORST}.", "leave one of them out.")
    options.refuse(("objective",), f"{_WORST} by its expected loss.", "leave one of them out.")
    options.refuse(("pairs", "checkpoints"), f"{_WORST} in many programs.", "leave it out.")


def priors_in_groups(
    options: DesignOptions, visits: Visits, places: Places, column: str, name: str
) -> GroupPriors:
    """Return the prior and size of each group of visits, the values of a column, which is named by an option."""
    from ..core import Prior
    from ..rounding import plural

    within = visits.select(places.inside(visits.lat, visits.lon))
    with option(name):
        groups = _groups(labels_of(visits, column, options.user_column), column, name)
        labels = labels_of(within, column, options.user_column)
    inside = [group for group in groups if (labels == group).any()]
    if len(inside) < len(groups):
        number = plural(len(groups) - len(inside), "group")
        say(f"Note: {number} of {column!r} without a visit in the region: left out.", err=True)
    noun = "prior" if name == "--priors" else "distribution"
    if options.smoothing:
        say(
            f"Note: with --smoothing each {noun} of {name} counts {options.smoothing:g} more visits at every "
            f"place, and what is said of a {noun} is about these too.",
            err=True,
        )
    if len(inside) < 2:
        raise DataError(
            f"{name}: one group of {column!r} has visits in the region, and so there is one {noun}.",
            f"leave out {name}, or choose a larger region.",
        )
    with working("Counting the visits of each group"):
        parts = {group: within.select(labels == group) for group in inside}
        priors = {
            group: Prior.from_visits(places, part, smoothing=options.smoothing) for group, part in parts.items()
        }
    return GroupPriors(priors, {group: len(part) for group, part in parts.items()})


def priors_of_visits(options: DesignOptions, visits: Visits, site: Site, source: str) -> SeveralPriors:
    """Return the prior and the loss of each group of visits, the values of the column ``--priors``."""
    from ..rounding import plural

    column, true_point = options.priors or "", getattr(site.costs, "true_point", "")
    priors = priors_in_groups(options, visits, site.places, column, "--priors").priors
    within = visits.select(site.places.inside(visits.lat, visits.lon))
    labels = labels_of(within, column, options.user_column)
    with working("Measuring how far visits are from reports"):
        losses = [site.places.loss(within.select(labels == group), true_point) for group in priors if true_point]
    left = len(visits) - len(within)
    text = f"the least favourable mixture of {plural(len(priors), 'group')} by {column!r} of {source}"
    text += f"; {left:,} visits outside the region are left out" if left else ""
    text += f"; smoothing {options.smoothing:g}" if options.smoothing else ""
    return SeveralPriors(priors, losses if true_point else [site.costs], text)


def priors_of_column(options: ColumnOptions, column: Column, loss: Metric) -> SeveralPriors:
    """Return the priors that ``--priors`` names: a table of them, or the shares in groups of rows."""
    text = options.priors or ""
    path = Path(text)
    if path.suffix.lower() in TABLES:
        with option("--priors"):
            rows = distributions_from(column.space, path, "prior")
            priors = {name: _prior(column.space, name, row) for name, row in rows.items()}
        return SeveralPriors(
            priors, [loss], f"the least favourable mixture of {len(priors):,} priors in {path.name}"
        )
    priors = priors_in_rows(options, column, text, "--priors").priors
    table = options.table.name if options.table else ""
    return SeveralPriors(
        priors, [loss], f"the least favourable mixture of {len(priors):,} groups by {text!r} of {table}"
    )


def _prior(space: Space, name: str, row: Floats) -> Prior:
    from ..core import Prior

    with option(f"prior {name!r}"):
        return Prior(space, row)


def priors_in_rows(options: ColumnOptions, column: Column, text: str, name: str) -> GroupPriors:
    """Return the shares of the values in each group of rows, and its size, by the column ``text`` of an option."""
    import numpy as np

    from ..core import Prior
    from ..releases import positions_in
    from ..tables import read_columns

    with option(name):
        if options.table is None:
            raise InputError(
                f"{text!r} is not a table (.csv, .parquet), and no table with such a column was given.",
                "name the table of distributions, or the table with this column.",
            )
        if text in column.columns:
            raise InputError(f"{text!r} is a column to make private.", "name the column of the groups.")
    space, columns = column.space, [*column.columns, text]
    table = read_columns(options.table, columns, as_text=columns, option={text: name.removeprefix("--")})
    positions = positions_in(space, *(table[part] for part in column.columns))
    labels = np.array([str(label) if label is not None else "" for label in table[text].to_pylist()])
    groups = _groups(labels, text, name)
    counts = {
        group: np.bincount(positions[(labels == group) & (positions >= 0)], minlength=len(space))
        for group in groups
    }
    empty = [group for group, count in counts.items() if not count.any()]
    if empty:
        raise DataError(
            f"{row_value(f'the group {empty[0]!r}', 'a group')} of {text!r} has no row with one of the "
            f"{len(space):,} values.",
            "check --labels or --numbers, or leave the group out of the table.",
        )
    say(
        f"Warning: with {name} of a column the mechanism file holds shares of the data, which no epsilon covers: "
        "keep it as secret as the data.",
        err=True,
    )
    priors = {group: Prior.from_counts(space, count) for group, count in counts.items()}
    return GroupPriors(priors, {group: int(count.sum()) for group, count in counts.items()})


def design_worst(
    several: SeveralPriors, guarantees: Sequence[DesignGuarantee], options: DesignOptions | ColumnOptions
) -> RobustDesign:
    """Return the design for the worst of several priors; Ctrl-C stops it with the best so far."""
    from ..optimal import design_robust

    costs = several.losses
    with StopOnInterrupt() as stop, progress_line(costs[0].unit) as report:
        return design_robust(
            list(several.priors.values()),
            loss=costs if len(costs) > 1 else costs[0],
            guarantees=guarantees,
            solver=options.solver,
            gap=POINTS_GAP if options.gap is None else options.gap,
            time_limit=options.time_limit,
            stop=stop,
            progress=report,
        )


def _groups(labels: NDArray[np.str_], column: str, name: str) -> list[str]:
    """Return the distinct labels; refuse empty cells, a single group, and too many of them."""
    import numpy as np

    from ..rounding import plural

    groups: list[str] = np.unique(labels).tolist()
    if "" in groups:
        count = int((labels == "").sum())
        raise DataError(
            f"{plural(count, 'row')} of {len(labels):,} have no {column!r}.",
            "write a value there, or leave them out.",
        )
    if len(groups) < 2:
        raise DataError(
            f"the column {column!r} holds one value, and so one group.",
            f"leave out {name}, or name another column.",
        )
    if len(groups) > _MOST_GROUPS:
        raise DataError(
            f"the column {column!r} holds {len(groups):,} values; {name} takes up to {_MOST_GROUPS:,} groups.",
            "name a column with fewer values, such as day or night.",
        )
    return groups


def family_promise(
    options: FamilyOptions, space: Space, distances: Metric, groups: Callable[[str], GroupPriors]
) -> tuple[tuple[FamilyPrivacy, ...], Floats | None]:
    """Return the guarantee of ``--family``, and P(group, secret), array (groups, n), where groups have sizes.

    The guarantee is per unit of the Wasserstein distance where its epsilon has a unit. The option names a table of
    distributions, or a column: ``groups`` returns those of its values.
    """
    import numpy as np

    from ..core import units
    from ..privacy import DistributionPrivacy, Family, MetricDistributionPrivacy
    from ..proofs import FamilyPrivacy

    options.check_family()
    if options.family is None or options.attribute_epsilon is None:
        return (), None
    path, epsilon, delta = options.family, options.attribute_epsilon, options.attribute_delta
    joint: Floats | None = None
    if path.suffix.lower() in TABLES:
        with option("--family"):
            family = family_from(space, path)
    else:
        parts = groups(str(path))  # which names the option in its errors
        family = Family(parts.priors)
        sizes = np.array(list(parts.sizes.values()), dtype=np.float64)
        joint = (sizes / sizes.sum())[:, None] * family.distributions
    with option("--attribute-epsilon"):
        rate = units.parse(epsilon.partition("/")[0], unit="", subject="epsilon")
    if not delta and not rate:
        family = Family(dict(zip(family.names, _with_equal_sums(family.distributions), strict=True)))
    if options.relation is not None:
        with option("--relation"):
            rows = dict(zip(family.names, family.distributions, strict=True))
            family = Family.lift(rows, relation_from(space, options.relation))
    with option("--attribute-delta"):
        notion: DistributionPrivacy | MetricDistributionPrivacy = DistributionPrivacy(family, delta)
    with option("--attribute-epsilon"):
        if "/" in epsilon:
            notion = MetricDistributionPrivacy.wasserstein(family, distances, delta=delta)
        return (FamilyPrivacy(epsilon, notion),), joint


def _with_equal_sums(distributions: Floats) -> Floats:
    """Return distributions as multiples of 2**-53 with sums of exactly 1, as epsilon 0 compares them exactly."""
    import numpy as np

    counts = np.floor(distributions * 2.0**53)
    counts[np.arange(len(counts)), counts.argmax(axis=1)] += 2.0**53 - counts.sum(axis=1)
    return np.asarray(counts / 2.0**53)
