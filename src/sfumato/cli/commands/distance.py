"""``sfumato distance``: distances and divergences between distributions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..audit_knowledge import MetricOptions, family_from, relation_from, secrets_in
from ..messages import say
from ..options import options_of
from ..outputs import check_ending, check_outputs, finite, write_json

if TYPE_CHECKING:
    from ...core import Metric
    from ...core.arrays import Floats
    from ...privacy import Relation


@dataclass(frozen=True, kw_only=True)
class DistanceOptions(MetricOptions):
    """The options of ``sfumato distance``."""

    family: Annotated[Path, Argument(help="A table of distribution, secret, probability.")]
    relation: Annotated[Path | None, Option(help="Pairs that mass may move between: secret, other.")] = None
    delta: Annotated[list[float] | None, Option(help="Of the epsilon. Repeatable. [default: 0, 1e-6]")] = None
    order: Annotated[list[float] | None, Option(help="Of the Rényi divergence. Repeatable. [default: 2]")] = None
    output: Annotated[Path | None, Option("--output", "-o", help="Write all results (.json).")] = None


@options_of(DistanceOptions)
def command(options: DistanceOptions) -> None:
    """Measure how far apart distributions are.

    Every two distributions of a table are compared, in both directions.
    --metric or --distances adds Wasserstein distances: W1 is the average distance that mass must move,
    Winf the largest. --relation adds the mass that must move between secrets that are not related.
    """
    from ...rounding import about
    from ..screen import Screen, print_table

    check_ending(options.output, ".json")
    check_outputs([options.output], [options.family])
    space = secrets_in(options.family)
    family, metric = family_from(space, options.family), options.metric_on(space)
    if metric is None:
        options.refuse(("unit",), "was given without distances.", "give --metric or --distances.")
    relation = None if options.relation is None else relation_from(space, options.relation)
    title = f"W1 and Winf in {metric.unit}" if metric is not None and metric.unit else ""
    console, entries = Screen(), list[dict[str, object]]()
    for i, j in combinations(range(len(family)), 2):
        first, second = family.names[i], family.names[j]
        p, q = family.distributions[[i, j]]
        there, back = (dict(_measures(*pair, options, metric, relation)) for pair in ((p, q), (q, p)))
        table = [(name, about(value), about(back[name])) for name, value in there.items()]
        print_table(console, title, ("measure", f"{first} to {second}", f"{second} to {first}"), table)
        entries += [
            {"from": start, "to": end, "measure": name, "value": finite(value)}
            for start, end, values in ((first, second, there), (second, first, back))
            for name, value in values.items()
        ]
    if options.output is not None:
        write_json({"unit": "" if metric is None else metric.unit, "entries": entries}, options.output)
        say(f"Written: {options.output}")


def _measures(
    p: Floats, q: Floats, options: DistanceOptions, metric: Metric | None, relation: Relation | None
) -> Iterator[tuple[str, float]]:
    import numpy as np

    from ...divergences import F_DIVERGENCES, MaxDivergence, Renyi
    from ...rounding import exactly
    from ...transport import lifting, optimal_lifting, wasserstein

    mean = 0.0 if metric is None else wasserstein(p, q, metric).distance.value
    if metric is not None:
        yield "W1", mean
        yield "Winf", wasserstein(p, q, metric, math.inf).distance.value
    for divergence in (*F_DIVERGENCES.values(), *(Renyi(order) for order in options.order or (2.0,))):
        yield divergence.name, divergence(p, q)
    for delta in options.delta or (0.0, 1e-6):
        yield f"epsilon at delta {exactly(delta)}", MaxDivergence(delta)(p, q)
    if relation is not None:
        truths = relation.array | np.eye(len(p), dtype=np.bool_)
        yield "mass moved between unrelated secrets", lifting(truths, p, q).outside
        if metric is not None:
            within = optimal_lifting(truths, p, q, metric).restricted if math.isfinite(mean) else math.inf
            yield "W1 between related secrets", within
