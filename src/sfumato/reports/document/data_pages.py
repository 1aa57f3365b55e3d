"""Pages on data: the receipt of a release, a learned mechanism, and the budgets of a ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...core import Loss, Mechanism, Prior
from ...core.immutable import CompactRepr
from ...errors import MissingExtraError
from ...files import MechanismFile
from ...geo import Places
from ...learning import Hiding, Pairs, hiding
from ...ledgers import LedgerBudgets, amount_text
from ...optimal import VULNERABILITY, SensitiveDesign, Status
from ...releases import FileMark, Receipt
from ...rounding import amount_at_most, percent
from .. import sentences as words
from ..facts import FileFacts
from ..theme import LIGHT, as_svg, blank
from .figures import map_figures
from .layout import file_section
from .page import Page, PageFigure, PageSection, PageTable

_STEPS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000, 100_000, 1_000_000)  # reports, ends of classes
_ROUNDING: Final = 1e-9  # of the loss, relative
_FEW_BITS: Final = 1e-3
_NOTABLE: Final = 0.01  # less of the chance of a hit, or of the bits: figures show a difference
_HOW: Final = (
    "The mechanism was trained against an attacker who guesses the hidden value from a report. The certified "
    "optimum was computed separately, with reports anywhere on the plane. Neither of the two has seen the "
    "held-out visits.",
    "What was learned has no guarantee: results may differ for another attacker or for other visits.",
)
_CAPTION: Final = "Spending of all users per day (UTC)."
_SIZE: Final = (7.2, 2.4)  # inches
_DATES: Final = 8  # labels below the bars


@dataclass(frozen=True, slots=True, repr=False)
class LearningResult(CompactRepr):
    """A learned mechanism and the certified optimum."""

    mechanism: Mechanism
    optimum: SensitiveDesign
    learning: Pairs  # training visits
    judging: Pairs  # held-out visits
    places: Places
    max_loss_m: float

    @property
    def table(self) -> PageTable:
        """The attacker's success, the information in bits and the loss, of both on both sets of visits."""
        mechanisms = {"learned": self.mechanism, "certified optimum": self.optimum.mechanism}
        results = (
            (f"{name}{where}", self._hiding(mechanism, data))
            for name, mechanism in mechanisms.items()
            for where, data in (("", self.learning), (", on held-out visits", self.judging))
        )
        title = f"Hiding the value at a loss of at most {amount_at_most(self.max_loss_m, 'm')}"
        return PageTable(title, *words.hiding_rows(results))

    @property
    def outcome(self) -> str:
        """The attacker's success and the loss on held-out visits, in sentences."""
        return words.learned_words(self._hiding(self.mechanism, self.judging), self.judging.blind_error)

    @property
    def loss_m(self) -> float:
        """The average loss of the learned mechanism on the training visits, metres."""
        return float(self._hiding(self.mechanism, self.learning).loss)

    @property
    def keeps_limit(self) -> bool:
        """Whether that is within the limit."""
        return self.loss_m <= self.max_loss_m * (1 + _ROUNDING)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The attacker's success without a report, what is proved, and the warnings."""
        return (*words.certified_words(self.optimum, self.learning.blind_error), *self._offer, *self.warnings)

    @property
    def warnings(self) -> tuple[str, ...]:
        """That the optimum is not within its gap, and that the limit is exceeded."""
        status = self.optimum.status
        reason = words.unfinished_words(status.value)
        unfinished = () if status is Status.OPTIMAL else (f"The certified optimum is {reason}",)
        excess = () if self.keeps_limit else (words.excess_words(self.loss_m, self.max_loss_m),)
        return (*unfinished, *excess)

    @property
    def is_worse(self) -> bool:
        """Whether the optimum hides notably more on training and held-out visits, and nothing is promised."""
        if self.mechanism.guarantees:
            return False
        for data in (self.learning, self.judging):
            exact, learned = self._outcomes(data)
            least = _NOTABLE * (1.0 if self._is_hit else max(self._leak(learned), _FEW_BITS))
            if self._leak(exact) > self._leak(learned) - least:
                return False
        return True

    @property
    def _offer(self) -> tuple[str, ...]:
        if not self.is_worse:
            return ()
        return (words.offer_words(*self._outcomes(self.judging), is_hit=self._is_hit),)

    @property
    def _is_hit(self) -> bool:
        return self.optimum.problem.objective == VULNERABILITY

    def _outcomes(self, data: Pairs) -> tuple[Hiding, Hiding]:
        return self._hiding(self.optimum.mechanism, data), self._hiding(self.mechanism, data)

    def _leak(self, hiding: Hiding) -> float:
        return hiding.hit_rate if self._is_hit else hiding.information_bits

    def _hiding(self, mechanism: Mechanism, data: Pairs) -> Hiding:
        reports = None if mechanism.observables == self.places else self.places.on_plane(mechanism.observables)
        return hiding(mechanism, data.joint(self.places), data.loss(self.places, reports))


def learn_page(
    learned: LearningResult, *, is_finished: bool, promises: Sequence[str] = (), file: FileFacts | None = None
) -> Page:
    """Return the page of a learned mechanism."""
    loss: Loss = learned.learning.loss(learned.places)
    prior = Prior(learned.places, learned.learning.joint(learned.places).sum(axis=0))
    maps = map_figures(MechanismFile(learned.mechanism, prior, loss))
    interruption = () if is_finished else (words.TRAINING_STOPPED,)
    warned = (*interruption, *learned.warnings)
    how = _HOW[: 1 if promises else 2]
    sections = (
        PageSection("What was found", (*how, *learned.sentences), tables=(learned.table,)),
        *([PageSection("The guarantee", tuple(promises))] if promises else []),
        *([PageSection("On the map", figures=maps)] if maps else []),
        *([file_section(file)] if file is not None else []),
    )
    examples = words.examples_words(len(learned.learning), len(learned.judging), len(learned.learning.space))
    lead = (*warned, learned.outcome, examples)
    return Page("A mechanism that was learned", lead, sections, warning=bool(warned))


def receipt_page(receipt: Receipt) -> Page:
    """Return the page of a receipt."""
    warned = words.receipt_warnings(receipt)
    bounds = tuple(map(words.bound_words, receipt.bounds)) or ("No bound is proved.",)
    cover = (
        ("People", words.people_words(receipt)),
        ("Privacy", (*bounds, *words.release_limits(receipt))),
        *((("Notes", receipt.notes),) if receipt.notes else ()),
    )
    columns = (
        ("In the released table", receipt.columns),
        ("Carried over unchanged, not covered by the bounds", receipt.columns_carried_over),
        ("Left out", receipt.columns_left_out),
    )
    listed = tuple((title, ", ".join(names) or "none") for title, names in columns)
    listing = PageTable("Columns of the source and of the released table.", (), listed)
    sections = (
        PageSection("Files", tables=(_files(receipt),)),
        PageSection("Columns", tables=(listing,)),
        PageSection("Rows and people", tables=(_rows(receipt), *_spread(receipt))),
    )
    lead = (*warned, words.released_words(receipt))
    return Page("Receipt of a release", lead, sections, cover, warning=bool(warned))


def _rows(receipt: Receipt) -> PageTable:
    far = f", by {amount_at_most(receipt.moved_at_most_m, 'm')} at most" if receipt.moved_at_most_m else ""
    rows = (
        ("Read", f"{receipt.rows_read:,}"),
        ("Released", f"{receipt.rows_released:,}"),
        ("Dropped", f"{receipt.rows_dropped:,}"),
        ("Of these without a position", f"{receipt.rows_without_position:,}"),
        ("Moved into the region first", f"{receipt.rows_moved:,}{far}"),
        ("Drawn before an interruption", f"{receipt.rows_resumed:,}"),
        ("Earlier releases of the source to this folder", f"{receipt.earlier_releases:,}"),
    )
    return PageTable("Rows of the source and of the released table.", (), rows)


def _spread(receipt: Receipt) -> tuple[PageTable, ...]:
    """Return the number of people by their number of reports, in classes."""
    if not receipt.reports_per_person:
        return ()
    ends = [*_STEPS, max(reports for reports, _ in receipt.reports_per_person) + 1]
    rows, start = [], 1
    for end in ends:
        people = sum(number for reports, number in receipt.reports_per_person if start <= reports <= end)
        if people:
            rows.append((f"{end:,}" if start == end else f"{start:,} to {end:,}", f"{people:,}"))
        start = max(start, end + 1)
    return (PageTable("Reports of one person.", ("reports", "people"), tuple(rows)),)


def _files(receipt: Receipt) -> PageTable:
    files: list[tuple[str, FileMark | None]] = [("Source", receipt.source), ("Released table", receipt.target)]
    files += [("Mechanism file", mechanism_file) for mechanism_file in receipt.mechanism_files]
    rows = []
    for title, mark in files:
        if mark is None:
            rows.append((title, "a table in memory"))
        else:
            many = "" if mark.files == 1 else f"{mark.files:,} files, "
            rows.append((title, f"{mark.name}: {many}{mark.bytes:,} bytes, SHA-256 {mark.sha256}"))
    rows += [("Mark of the mechanism", mechanism) for mechanism in receipt.mechanisms[:20]]
    rows.append(("Version", f"sfumato {receipt.version}"))
    return PageTable(
        "Fingerprints. A small source can be guessed from its fingerprint: do not publish it.", (), tuple(rows)
    )


def budget_page(facts: LedgerBudgets) -> Page:
    """Return the page of a ledger's budgets: days, classes of users, and those near their limit."""
    unit = facts.unit
    days = tuple(
        (
            day.day,
            amount_text(day.spent, unit),
            *(f"{number:,}" for number in (day.reports, day.users, day.refused)),
            "renewed" if day.renewed else "",
        )
        for day in facts.days
    )
    classes = tuple(
        (group.name, f"{group.users:,}", percent(group.users / (facts.users or 1)), amount_text(group.spent, unit))
        for group in facts.classes
    )
    near = tuple(
        (account.user, percent(account.share), amount_text(account.spent, unit), amount_text(account.left, unit))
        for account in facts.near
    )
    renewed = "Limits are renewed at the start of the day, in UTC."
    by_day = PageTable(renewed, ("day", "spent", "reports", "users", "refused", "limits"), days)
    by_class = PageTable("Shares of the tightest limit.", ("spent", "users", "share", "in all"), classes)
    headings = ("user", "of the limit", "spent", "left")
    nearest = (PageTable("The nearest first.", headings, near),) if near else ()
    sections = (
        *(PageSection("Spending", figures=(figure,)) for figure in _figures(facts)),
        PageSection("Days", tables=(by_day,)),
        PageSection("Users by spending", tables=(by_class,)),
        PageSection("Near the limit", () if near else ("No user has spent 90 % of a limit.",), tables=nearest),
    )
    return Page("Privacy budgets", (f"Ledger: {facts.address}", *words.spending_words(facts)), sections)


def _figures(facts: LedgerBudgets) -> tuple[PageFigure, ...]:
    """Return bars of the spending per day, if matplotlib is installed."""
    days = facts.days[::-1]
    if len(days) < 2:
        return ()
    try:
        figure = blank(*_SIZE)
        axes = figure.subplots()
        axes.bar(range(len(days)), [float(day.spent) for day in days], color=LIGHT.series[0])
        step = -(-len(days) // _DATES)
        ticks = range(0, len(days), step)
        axes.set_xticks(ticks, [days[tick].day[5:] for tick in ticks])
        axes.set_ylabel(f"spent (per {facts.unit})" if facts.unit else "spent")
        return (PageFigure(as_svg(figure, title="Spending per day", description=_CAPTION), _CAPTION),)
    except MissingExtraError:
        return ()
