"""Limits on what one person gives away in a release, checked on all rows before anything is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from ..core import units
from ..core.immutable import CompactRepr
from ..errors import DataError, InputError, UnitError, argument
from ..proofs import ReportBound
from ..rounding import amount_at_most, at_most, counted, float_above
from .promises import People

REPORTS: Final = "max_reports_per_person"
EPSILON: Final = "max_epsilon_per_person"


@dataclass(frozen=True, slots=True, repr=False)
class PersonLimits(CompactRepr):
    """The most reports, and the most epsilon, that a release may ask of one person.

    They are for one release of one source. Earlier releases of the source into the same folder count, too, unless
    a ledger charges for them: that has limits of its own.

    Attributes:
        reports: The largest number of reports; None for no limit.
        epsilon: The largest total epsilon, such as ``"50/km"``, or a number in the unit of the promise; None for
            no limit.
    """

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
        """Refuse a release that asks more of a person.

        Args:
            promises: The largest promise of one report, kind by kind; none where nothing bounds a report.
            people: The reports of each person.
            earlier: How often the source was released before, each place of its rows counted.
            same_mechanism: Whether all of these releases had this mechanism.
            releases: How many releases these are.

        Raises:
            DataError: If a person exceeds a limit, or the reports of each person cannot be counted.
            InputError: If the limit on epsilon has another unit than the promise, or no total can be computed.
        """
        if self.reports is not None:
            counts = _counts(people, REPORTS, earlier)
            if over := _over(counts, self.reports):
                raise _refusal(
                    people, over, releases, argument(REPORTS, self.reports), f"number is {max(counts):,}"
                )
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
            each = Fraction(repr(promise.epsilon))  # as the limit is read: 0.1 is 1/10
            if over := _over(counts, limit // each if each else max(counts, default=0)):
                most = max(counts)
                total = f"epsilon is {at_most(float_above(each * most), 6)}{units.per_unit(promise.unit)}"
                limited = f"{argument(EPSILON, self.epsilon)}{_whom(promise)}"
                raise _refusal(people, over, releases, limited, f"{total}, of {counted(most, 'report')}")

    def _epsilons(self, promises: Sequence[ReportBound]) -> list[tuple[ReportBound, Fraction]]:
        """Return the promises that the limit on epsilon is for, each with the limit in its unit."""
        fitting: list[tuple[ReportBound, Fraction]] = []
        misfit: UnitError | None = None
        for each in (promise for promise in promises if promise.measure == "epsilon"):
            try:
                limit = units.parse_exactly(
                    self.epsilon or 0, per=bool(each.unit), unit=each.unit, what=argument(EPSILON)
                )
            except UnitError as error:
                misfit = misfit or error
                continue
            if limit <= 0:
                raise InputError(
                    f"{argument(EPSILON, self.epsilon)} is not above 0.", "write a larger one, such as '50/km'."
                )
            fitting.append((each, limit))
        if fitting:
            return fitting
        if misfit is not None:
            raise misfit
        raise InputError(
            f"{argument(EPSILON, self.epsilon)} cannot be checked: no epsilon is proved for every report.",
            f"limit the number of reports with {argument(REPORTS, 100)}",
            "release with a mechanism that promises an epsilon.",
        )


def _counts(people: People, limit: str, earlier: int) -> dict[int, int]:
    """Return how many people have each number of reports, in this release and the earlier ones.

    Raises:
        DataError: If rows name no user.
    """
    if people.most is not None and not people.nameless:
        row = people.row_reports
        return {reports // row * (row + earlier): users for reports, users in people.counts}
    lacking, hint = "no column names the users", f"name it with {argument('release.user', 'column')}"
    if people.most is not None:
        names = "names" if people.nameless == 1 else "name"
        lacking, hint = f"{counted(people.nameless, 'row')} {names} no user", "leave such rows out of the source"
    raise DataError(
        f"{argument(limit)} cannot be checked, because {lacking}: the reports of one person cannot be counted. "
        "Nothing was drawn.",
        hint,
        f"leave out {argument(limit)}.",
    )


def _over(counts: dict[int, int], most: int) -> int:
    return sum(users for reports, users in counts.items() if reports > most)


def _whom(promise: ReportBound) -> str:
    """Return for whom a promise is and what is added to its distances, to follow a limit."""
    slack = f"with {amount_at_most(promise.slack_m, 'm')} added to every distance" if promise.slack_m else ""
    more = ", ".join(each for each in (promise.whom, slack) if each)
    return f" ({more.strip('()')})" if more else ""


def _refusal(people: People, over: int, earlier: int, limit: str, largest: str) -> DataError:
    """Return the error of a release that exceeds a limit: how many people do, and by how much, but not who."""
    total = sum(users for _, users in people.counts)
    about = "" if people.exact else "up to "
    counting = "" if people.exact else ", where every row that may have a report counts"
    releases = f" over {earlier + 1:,} releases of this source" if earlier else ""
    place_once = (
        f"if they return to the same places, report each place once, with {argument('place_column', 'column')}"
    )
    return DataError(
        f"{about}{over:,} of {counted(total, 'person', 'people')} would exceed {limit}: the largest {largest}"
        f"{releases}{counting}. Nothing was drawn.",
        f"name the column of users with {argument('release.user', 'column')}"
        if people.assumed
        else "release fewer rows of each person",
        "" if people.row_reports > 1 else place_once,  # the reports of a row cannot be of one place
        "allow more, if the larger total is what you want.",
    )
