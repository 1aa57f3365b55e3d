"""Guarantees of a release: of one report, and of the counted and limited reports of one person, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from .._system import pa, pc
from ..core import Randomizer, units
from ..core.immutable import CompactRepr
from ..errors import DataError, InputError, UnitError, argument
from ..escaping import plain
from ..proofs import ReportBound, Stated, prove
from ..rounding import amount_at_most, at_most, float_above, plural
from ..tables import TableStream, counts_of_names
from .kernel import Kernel

_MOST_KINDS: Final = 3  # mechanisms, or kinds of promises, in sentences
Promises = Mapping[str, tuple[ReportBound, ...]]
Kind = tuple[str, str, str, str]
Kinds = dict[Kind, ReportBound]
_UNLIKE: Final = "the mechanisms have different guarantees, so no single number covers all of them"
_WITHOUT: Final = "not all mechanisms have a guarantee that adds up, so nothing bounds the total of the reports"
_ANYBODY: Final = "for any two true values"
_NUMBERS: Final = 1 << 23  # users below this are counted in an array
_MOST_COUNTS: Final = 1 << 22  # counts of users that are held before equal users are put together
REPORTS: Final = "max_reports_per_person"
EPSILON: Final = "max_epsilon_per_person"


def report_bounds(mechanism: Randomizer) -> tuple[ReportBound, ...]:
    """Return a proved bound of one report for each guarantee that the mechanism states."""
    proofs = prove(mechanism)
    for proof in proofs:
        if isinstance(proof, Stated):
            why = "which cannot be proved of mechanisms of its kind"
            if proof.upper is not None:
                why = f"but its integers give an epsilon of up to {at_most(proof.upper, 9)}"
            raise InputError(
                f"the mechanism states {proof.guarantee}, {why}: nothing was drawn.",
                "design it again, or state a guarantee that holds.",
            )
    return tuple(proof.bound for proof in proofs if not isinstance(proof, Stated))


def sentences(promises: Promises, people: People, *, columnwise: bool = False) -> tuple[str, ...]:
    """Return sentences on the guarantee of a release and its cost for one person."""
    lines = []
    pairs = [(name, bound) for name, bounds in promises.items() for bound in bounds]
    for name, bound in pairs[: None if columnwise else _MOST_KINDS]:
        of = f" of {plain(name)!r}" if name else ""
        lines.append(f"Proved from {bound.source}{of}: {bound.sentence}")
    if len(pairs) > _MOST_KINDS and not columnwise:
        lines.append(f"Proved likewise: {len(pairs) - _MOST_KINDS:,} more guarantees of the other mechanisms.")
    bare = [name for name, bounds in promises.items() if not bounds]
    if bare:
        noun = f"{len(bare):,} of the mechanisms"
        if len(promises) == 1 or columnwise:
            noun = "The mechanism"
            noun += f" of {', '.join(repr(plain(name)) for name in bare)}" if len(promises) > 1 else ""
        lines.append(f"{noun} states no guarantee that can be proved from integers here: its reports have none.")
    kinds = [_tightest(bounds) for bounds in promises.values()]
    if columnwise:
        total, joint = _together(kinds)
        alone: list[Kinds] = [] if all(bound.adds_up for _, bound in pairs) else [{}]
        return (*lines, joint, *_of_people(alone if total is None else [total], people))
    return (*lines, *_of_people(kinds, people))


def bounds_of_report(promises: Promises, *, columnwise: bool = False) -> tuple[ReportBound, ...]:
    """Return the bounds on a report of any mechanism (``columnwise``: on all columns of a row), by kind."""
    kinds = [_tightest(bounds) for bounds in promises.values()]
    if columnwise:
        total = _together(kinds)[0]
        kinds = [] if total is None else [total]
    return tuple(map(_worst, _common_kinds(kinds))) if kinds else ()


def _tightest(bounds: Iterable[ReportBound]) -> Kinds:
    """Return the best guarantee of each kind that one mechanism states, of those that add up over reports."""
    best: Kinds = {}
    for bound in (bound for bound in bounds if bound.adds_up):
        best[bound.kind] = min(best.get(bound.kind, bound), bound, key=lambda part: (part.epsilon, part.slack_m))
    return best


def _common_kinds(kinds: Sequence[Kinds]) -> list[list[ReportBound]]:
    """Return the guarantees of each kind that all mechanisms state, kind by kind."""
    return [[of[kind] for of in kinds] for kind in kinds[0] if all(kind in of for of in kinds)]


def _worst(parts: Sequence[ReportBound]) -> ReportBound:
    """Return what holds of any one report, whichever of these guarantees of one kind it comes with."""
    return replace(
        parts[0],
        epsilon=max(part.epsilon for part in parts),
        slack_m=max(part.slack_m for part in parts),
        confirmed=all(part.confirmed for part in parts),
    )


def _together(kinds: Sequence[Kinds]) -> tuple[Kinds | None, str]:
    """Return the joint guarantee of the columns of one row, where that is a number, and the same in words."""
    columns = f"Together the {len(kinds)} columns of a row are drawn independently"
    if not all(kinds):
        return None, f"{columns}; nothing bounds all of them, because not all have a guarantee that adds up."
    groups = [parts for parts in _common_kinds(kinds) if parts[0].any_two or not parts[0].distance]
    columns += ", and their guarantees add up"
    if not groups:
        return None, f"{columns}; they are of different kinds, so no single number says it."
    totals, lines = {}, []
    for parts in groups:
        total = float_above(sum((Fraction(part.epsilon) for part in parts), Fraction(0)))
        scope = parts[0].scope and f"{parts[0].scope} in each of these columns"
        sure = all(part.confirmed for part in parts)
        totals[parts[0].kind] = replace(parts[0], epsilon=total, scope=scope, confirmed=sure)
        summed = " + ".join(at_most(part.epsilon, 6) for part in parts)
        scope = scope or "for any two people, whichever of these columns they differ in"
        lines.append(f"{parts[0].measure} {summed}, at most {at_most(total, 6)} {scope}")
    return totals, f"{columns}: {'; '.join(lines)}."


def _of_people(kinds: Sequence[Kinds], people: People) -> tuple[str, ...]:
    """Return sentences on the total of one person's reports, from the best guarantees of each mechanism."""
    if people.most is None:
        return (f"No column names the users, so the reports of one person cannot be counted{_of_any(kinds)}.",)
    most = people.most
    if not most:
        return ()
    note = "" if people.users is None else f" ({plural(people.users, 'user')})"
    claim = f"The source asks for {'' if people.exact else 'at most '}{plural(most, 'report')} of one person"
    totals = _totals(_common_kinds(kinds), most) if kinds else []
    if kinds and not any(kinds):
        lines = [f"{claim}{note}."]
    elif not kinds:
        lines = [f"{claim}{note}{f': {most:,} times what is proved of each column' if most > 1 else ''}."]
    elif totals:
        lines = [f"{claim}: {_parts_phrase(totals)}{note}."]
    else:
        every = dict.fromkeys(kind for best in kinds for kind in best)
        groups = [[best[kind] for best in kinds if kind in best] for kind in every]
        begin = "By kind of guarantee" if most == 1 else "Where all have a guarantee of one kind"
        lines = [
            f"{claim}{note}; {_WITHOUT if not all(kinds) else _UNLIKE}.",
            f"{begin}: {_parts_phrase(list(dict.fromkeys(_totals(groups, most))))}.",
        ]
    if people.nameless:
        rows, names = plural(people.nameless, "row"), "names" if people.nameless == 1 else "name"
        lines.append(f"{rows} {names} no user and may be anyone's: counted with every person's.")
    if people.assumed:
        rows = "the row is" if people.rows == 1 else f"all {people.rows:,} rows are"
        lines.append(f"It is not stated whose the rows are: {rows} counted as one person's.")
    return tuple(lines)


def _of_any(kinds: Sequence[Kinds]) -> str:
    """Return the total of k reports of one person, as the end of a sentence."""
    if kinds and not any(kinds):
        return ""
    if not kinds:
        return ": k reports of one person add up to k times what is proved of each column"
    groups, several = _common_kinds(kinds), len(kinds) > 1
    if not groups:
        return f"; {_WITHOUT if not all(kinds) else _UNLIKE}"
    measures = {parts[0].measure for parts in groups}
    measure = measures.pop() if len(measures) == 1 else "what is proved of one"
    most = "at most k times" if several else "k times"
    return f": k reports of one person add up to {most} {_largest(measure, several=several)}"


def _totals(groups: Sequence[Sequence[ReportBound]], most: int) -> list[str]:
    """Return the total of so many reports, for each kind of guarantee."""
    worst = [(_worst(group), len(group) > 1) for group in groups]
    if len(worst) > 1:  # or the sentence before says for whom
        worst = [(replace(bound, scope=_ANYBODY) if bound.any_two else bound, many) for bound, many in worst]
    return [_times(bound, most, several=many) for bound, many in worst]


def _times(promise: ReportBound, most: int, *, several: bool) -> str:
    total = at_most(float_above(Fraction(promise.epsilon) * most), 6)
    total += f"/{plain(promise.unit)}" if promise.unit else ""
    total += f" {promise.scope}" if promise.scope else ""
    total += f", with {amount_at_most(promise.slack_m, 'm')} added to every distance" if promise.slack_m else ""
    total += ", at the largest of their distances" if several and promise.middles and promise.unit else ""
    measure = _largest(promise.measure, several=several)
    cost = f"{most:,} times {measure}, {total}" if most > 1 else f"{measure} once, {total}"
    return f"at most {cost}" if several else cost


def _largest(measure: str, *, several: bool) -> str:
    return f"the largest {measure}" if several and measure in ("epsilon", "rho") else measure


def _parts_phrase(parts: Sequence[str]) -> str:
    more = len(parts) - _MOST_KINDS
    return "; ".join([*parts[:_MOST_KINDS], *([f"and likewise for {more:,} more"] if more > 0 else [])])


@dataclass(frozen=True, slots=True, repr=False)
class People(CompactRepr):
    """Number of reports of each person in a source.

    ``rows`` bounds the rows with a report, and ``most`` the reports of one user (None if unknown); both are
    counted where ``exact``. ``nameless`` rows name no user, but count with each. ``counts`` are pairs of a number
    of reports and its number of users. With ``assumed`` all rows count as one person's.
    """

    rows: int
    most: int | None = None
    users: int | None = None
    exact: bool = True
    nameless: int = 0
    counts: tuple[tuple[int, int], ...] = field(default=(), compare=False)
    assumed: bool = False
    row_reports: int = 1

    def times(self, reports: int) -> People:
        """Return the same people where each row has several reports."""
        most = None if self.most is None else self.most * reports
        counts = tuple((count * reports, users) for count, users in self.counts)
        return replace(self, most=most, counts=counts, row_reports=reports)


def count_people(stream: TableStream, kernel: Kernel) -> People:
    """Return the people of a source, with names compared as in the ledger; memory grows with the users only."""
    user = kernel.user
    if user is None or kernel.people == "one":
        rows = stream.rows
        if rows is None:
            rows = sum(batch.num_rows for batch in stream.batches(stream.schema.names[:1]))
        return people_without_users(rows, kernel)
    tables: list[Any] = []
    small = np.zeros(0, dtype=np.int64)  # counts of users that are small numbers, by number
    rows = size = nameless = 0
    for batch in stream.batches([user]):
        rows += batch.num_rows
        numbers = _small(batch.column(0))
        if numbers is not None:
            counts = np.bincount(numbers)
            if len(counts) > len(small):
                small = np.concatenate([small, np.zeros(len(counts) - len(small), dtype=np.int64)])
            small[: len(counts)] += counts
            continue
        names, reports = counts_of_names(batch.column(0))
        tables.append(pa.table({"user": names, "n": reports}))
        size += len(names)
        if size > _MOST_COUNTS:
            tables = [_merge(tables)]
            size = tables[0].num_rows
    if small.any():
        users = np.flatnonzero(small)
        kind = stream.schema.field(user).type
        tables.append(pa.table({"user": pa.array(users).cast(kind), "n": pa.array(small[users])}))
    if not tables:
        return People(0, 0, 0)
    total = _merge(tables)
    missing = pc.is_null(total["user"], nan_is_null=True)
    nameless = pc.sum(total.filter(missing)["n"]).as_py() or 0
    sums = total.filter(pc.invert(missing))["n"]
    most = pc.max(sums).as_py() or 0
    spread = sorted((pair["values"], pair["counts"]) for pair in pc.value_counts(sums).to_pylist())
    people = People(rows, most + nameless, len(sums) or None, nameless=nameless, counts=tuple(spread))
    return people.times(kernel.places)


def people_without_users(rows: int, kernel: Kernel) -> People:
    """Return the people of rows without a column of users: one person for places, unknown for other secrets."""
    is_single = kernel.people == "one"
    if not (is_single or kernel.of_places):
        return People(rows)
    return People(rows, rows, 1, assumed=not is_single, counts=((rows, 1),)).times(kernel.places)


def _small(column: Any) -> Any:
    """Return a column of users as an array, if they are numbers small enough to count by; else None."""
    if not pa.types.is_integer(column.type) or column.null_count or not len(column):
        return None
    ends = pc.min_max(column)
    if ends["min"].as_py() < 0 or ends["max"].as_py() >= _NUMBERS:
        return None
    return column.to_numpy().astype(np.int64, copy=False)


def _merge(tables: list[Any]) -> Any:
    table = pa.concat_tables(tables).group_by("user").aggregate([("n", "sum")])
    return table.select(["user", "n_sum"]).rename_columns(["user", "n"])


@dataclass(frozen=True, slots=True, repr=False)
class PersonLimits(CompactRepr):
    """Largest number of reports and total epsilon (``"50/km"``, or in the guarantee's unit) of one person."""

    reports: int | None = None
    epsilon: float | str | None = None

    def __post_init__(self) -> None:
        if self.reports is not None and (isinstance(self.reports, bool) or self.reports < 1):
            raise InputError(
                f"{argument(REPORTS, self.reports)} is not a number of reports.", "use a whole number from 1 on."
            )
        if isinstance(self.epsilon, bool):
            raise InputError(f"{argument(EPSILON, self.epsilon)} is not an epsilon.", "write it as '50/km'.")

    def check(
        self,
        promises: Sequence[ReportBound],
        people: People,
        earlier: int = 0,
        same_mechanism: bool = True,
        releases: int = 0,
    ) -> None:
        """Refuse a release in which a person, with ``earlier`` reports of each row, exceeds a limit."""
        if self.reports is not None:
            counts = _counts(people, REPORTS, earlier)
            if over := _over(counts, self.reports):
                limited = argument(REPORTS, self.reports)
                raise _refusal(people, over, releases, limited, f"number is {max(counts):,}")
        if self.epsilon is None:
            return
        if earlier and not same_mechanism:
            raise InputError(
                f"{argument(EPSILON)} cannot be checked: the source was released before with another mechanism, "
                "and the epsilon of that release is not on record.",
                f"limit the number of reports with {argument(REPORTS, 100)}",
                f"leave out {argument(EPSILON)}.",
            )
        for promise, limit in self._epsilons(promises):
            counts = _counts(people, EPSILON, earlier)
            epsilon = Fraction(repr(promise.epsilon))  # as the limit is read: 0.1 is 1/10
            if over := _over(counts, limit // epsilon if epsilon else max(counts, default=0)):
                most = max(counts)
                total = f"epsilon is {at_most(float_above(epsilon * most), 6)}{units.per_unit(promise.unit)}"
                limited = f"{argument(EPSILON, self.epsilon)}{_scope(promise)}"
                raise _refusal(people, over, releases, limited, f"{total}, of {plural(most, 'report')}")

    def _epsilons(self, promises: Sequence[ReportBound]) -> list[tuple[ReportBound, Fraction]]:
        """Return the guarantees that the limit on epsilon is for, each with the limit in its unit."""
        fitting: list[tuple[ReportBound, Fraction]] = []
        misfit: UnitError | None = None
        for bound in (promise for promise in promises if promise.measure == "epsilon"):
            try:
                limit = units.parse_exactly(
                    self.epsilon or 0, per=bool(bound.unit), unit=bound.unit, subject=argument(EPSILON)
                )
            except UnitError as error:
                misfit = misfit or error
                continue
            if limit <= 0:
                raise InputError(
                    f"{argument(EPSILON, self.epsilon)} is not above 0.", "write a larger one, such as '50/km'."
                )
            fitting.append((bound, limit))
        if fitting:
            return fitting
        if misfit is not None:
            raise misfit
        raise InputError(
            f"{argument(EPSILON, self.epsilon)} cannot be checked: no epsilon is proved for every report.",
            f"limit the number of reports with {argument(REPORTS, 100)}",
            "release with a mechanism that guarantees an epsilon.",
        )


def _counts(people: People, limit: str, earlier: int) -> dict[int, int]:
    """Return how many people have each number of reports, in this release and the earlier ones."""
    if people.most is not None and not people.nameless:
        row = people.row_reports
        return {reports // row * (row + earlier): users for reports, users in people.counts}
    reason, hint = "no column names the users", f"name it with {argument('release.user', 'column')}"
    if people.most is not None:
        names = "names" if people.nameless == 1 else "name"
        reason, hint = f"{plural(people.nameless, 'row')} {names} no user", "leave such rows out of the source"
    raise DataError(
        f"{argument(limit)} cannot be checked, because {reason}: the reports of one person cannot be counted. "
        "Nothing was drawn.",
        hint,
        f"leave out {argument(limit)}.",
    )


def _over(counts: dict[int, int], most: int) -> int:
    return sum(users for reports, users in counts.items() if reports > most)


def _scope(promise: ReportBound) -> str:
    """Return for whom a guarantee is, and what is added to its distances, to follow a limit."""
    slack = f"with {amount_at_most(promise.slack_m, 'm')} added to every distance" if promise.slack_m else ""
    more = ", ".join(part for part in (promise.scope, slack) if part)
    return f" ({more.strip('()')})" if more else ""


def _refusal(people: People, over: int, earlier: int, limit: str, largest: str) -> DataError:
    """Return the error of a release that exceeds a limit: how many people do, and by how much, not who."""
    total = sum(users for _, users in people.counts)
    about = "" if people.exact else "up to "
    counting = "" if people.exact else ", where every row that may have a report counts"
    releases = f" over {earlier + 1:,} releases of this source" if earlier else ""
    once = f"if they return to the same places, report each place once, with {argument('place_column', 'column')}"
    fewer = "release fewer rows of each person"
    if people.assumed:
        fewer = f"name the column of users with {argument('release.user', 'column')}"
    return DataError(
        f"{about}{over:,} of {plural(total, 'person', 'people')} would exceed {limit}: the largest {largest}"
        f"{releases}{counting}. Nothing was drawn.",
        fewer,
        "" if people.row_reports > 1 else once,  # the reports of a row cannot be of one place
        "allow more, if the larger total is what you want.",
    )
