"""Mechanism files: recognised, read for columns, seen on cells, proved and printed, and reports about them."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..errors import DataError, InputError, SfumatoError, argument
from .messages import PARTIAL, StopOnInterrupt, option, say, working
from .outputs import check_ending

if TYPE_CHECKING:
    from ..audits import Outcome
    from ..core import Mechanism, Space
    from ..files import MechanismFile
    from ..geo import Visits
    from ..ledgers import Blur, Ledger
    from ..mechanisms.planar import Coarsening
    from ..reports.document import OtherDesigns, ProvedPromises
    from ..reports.facts import Requirements
    from ..reports.maps import Outline
    from .options import SolverOptions

_MOST_NAMES: Final = 5
_SFM: Final = b"PK\x03\x04"  # how a mechanism file begins


def file_name(column: str) -> str:
    """Return the name of the mechanism file of a column in a folder of several."""
    letters = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in column)
    return f"{letters[:80] or 'column'}.sfm"


def mechanisms_in(folder: Path, columns: Sequence[str], **trust: Any) -> dict[str, MechanismFile]:
    """Return the mechanism files of columns in a folder by column; without columns all files."""
    from ..files import read_mechanism_file

    paths = {name: folder / file_name(name) for name in columns} or {
        path.stem: path for path in sorted(folder.glob("*.sfm"))
    }
    missing = [name for name, path in paths.items() if not path.is_file()]
    if missing or not paths:
        there = ", ".join(path.name for path in sorted(folder.glob("*.sfm"))[:_MOST_NAMES])
        raise InputError(
            f"the folder {str(folder)!r} holds no mechanism file"
            + (f" {file_name(missing[0])!r} for the column {missing[0]!r}." if missing else " (.sfm)."),
            f"it holds {there}." if there else "check the path.",
        )
    return {name: read_mechanism_file(path, **trust) for name, path in paths.items()}


def matrix_of(file: MechanismFile, column: str) -> Mechanism:
    """Return the mechanism of a column, whose reports are single labels."""
    if not file.has_matrix:
        raise InputError(f"the mechanism for {column!r} is noise for places.", "estimate it by itself.")
    return file.alone().report_channel


def coarse_of(file: MechanismFile, visits: Visits | None = None, *, spread: bool = False) -> Coarsening:
    """Return the noise seen on the cells of the file's prior, or on about a hundred over its table or visits.

    With `spread`, people are spread over their cell.
    """
    from ..geo import Grid
    from ..mechanisms.planar import coarsen

    if file.prior is None and file.noise.remap is None and visits is None:
        raise InputError(
            "the file says nothing about where people are: it holds neither a prior nor a table.",
            "make one from visits with sfumato design.",
        )
    cells = None if file.prior is None else file.prior.space
    if cells is None and file.noise.remap is None and visits is not None:
        region = visits.region(trim=0.02)
        cells = Grid.covering(visits, shape=region.shape_of(100), region=region)
    return coarsen(file.noise, cells, spread=spread)  # type: ignore[arg-type]


def print_promises(file: MechanismFile) -> ProvedPromises:
    """Prove the guarantees of a file, print the proofs, and return the outcomes."""
    from ..reports.document import ProvedPromises
    from .screen import print_summary

    promises = ProvedPromises.of(file)
    print_summary(promises.summary)
    return promises


def exit_code(outcome: Outcome | None) -> int:
    """Return 0 where everything holds, 1 where something fails, 3 where something is not decided."""
    from ..audits import Outcome

    return {Outcome.FAILS: 1, Outcome.UNDECIDED: PARTIAL}.get(outcome, 0) if outcome is not None else 0


def charged_blur(file: MechanismFile, ledger: Ledger) -> Blur:
    """Return a blur that draws a file's reports and charges a ledger for them by the file's guarantee."""
    from ..core import MetricPrivacy
    from ..ledgers import Blur

    if not file.has_matrix:
        return Blur(file.mechanism, ledger)
    promise = next((guarantee for guarantee in file.guarantees if isinstance(guarantee, MetricPrivacy)), None)
    if promise is None or file.tupling is not None:
        raise InputError(
            "what a report of this file costs is not known: it promises no metric privacy of single reports.",
            f"leave out {argument('ledger')}.",
        )
    return Blur(file.report_channel, ledger, promise)


def prove_tuples(file: MechanismFile, deltas: tuple[float, ...]) -> bool:
    """Print the proofs of a file with dummies, also at some deltas; return whether its guarantees hold."""
    from ..mechanisms.tupling import FamilyAccountant, quality_loss
    from ..reports.facts import Quantity
    from ..reports.sentences import answer_words
    from ..rounding import at_least, at_most, exactly

    tupling = file.tupling
    if tupling is None:
        return True
    family = FamilyAccountant.of_points(tupling)
    with working("Comparing every two secrets") as update:
        proofs = [promise.prove(tupling) for promise in file.tuple_guarantees]
        for proof in proofs:
            say(proof.sentence)
        for delta in deltas:
            update(f"Comparing every two secrets at delta {delta:g}")
            bound = family.epsilon(delta)
            labels = [tupling.inner.secrets.labels[place] for place in bound.pair]
            say(
                f"Proved: at delta {exactly(delta)} every two secrets are indistinguishable from a tuple with "
                f"epsilon {at_most(bound.bounds.upper)} (the least is at least {at_least(bound.bounds.lower)}, "
                f"for {labels[0]} and {labels[1]})."
            )
    if file.prior is not None and file.loss is not None:
        losses = quality_loss(tupling, file.prior, file.loss), tupling.inner.expected_loss(file.prior, file.loss)
        say(answer_words(tupling.queries, *(Quantity.about(loss, file.loss.unit) for loss in losses)))
    return all(proof.holds for proof in proofs)


@dataclass(frozen=True, slots=True)
class Reporting:
    """The report at the end of a design, and its requirements."""

    path: Path | None
    requirements: Requirements | None
    seconds: float  # for designs with other epsilons

    @classmethod
    def of(cls, options: SolverOptions) -> Reporting:
        """Return the report of the options, checked before the work."""
        check_report(options.report)
        check_time(options.frontier_time)
        requirements = read_required(options.require) if options.require else None
        return cls(options.report, requirements, options.frontier_time if options.report else 0.0)

    def check_radii(self, space: Space | None = None) -> None:
        """Refuse a radius that does not fit the secrets (None for places), before the work on them begins."""
        with option("--require"):
            for risk in self.requirements.risks if self.requirements is not None else ():
                risk.check(space)

    def write(
        self,
        file: MechanismFile,
        target: Path,
        *,
        source: str,
        visits: Visits | None,
        remarks: Sequence[str],
        outline: Outline | None = None,
    ) -> int:
        """Write the report of a mechanism file, print how near attackers come, and return the exit code."""
        if self.path is None and self.requirements is None:
            return 0
        from ..reports.document import Origin, report

        with among_others(self.seconds, "Writing the report") as designs:
            document = report(
                file,
                visits=visits,
                require=self.requirements or (),
                designs=designs,
                origin=Origin(target, source=source, designed=command_line()),
                remarks=remarks,
                outline=outline,
            )
            if self.path is not None:
                document.save(self.path)
        for sentence in document.sentences:
            say(sentence)
        if self.path is not None:
            say(f"Written: {self.path}")
        return exit_code(document.outcome)


def check_report(path: Path | None) -> None:
    """Check that the name of a report ends in ``.html`` or ``.json``, and that a page can be made."""
    if path is None:
        return
    if path.suffix.lower() not in (".html", ".json"):
        words = ["the report in words (.md) is always written next to the mechanism file"]
        raise InputError(
            f"the report {str(path)!r} ends in neither .html nor .json.",
            f"write it as {path.stem}.html",
            *(words if path.suffix.lower() == ".md" else []),
        )
    if path.suffix.lower() == ".html":
        check_ending(path, ".html", page=True)


def check_time(seconds: float) -> None:
    """Refuse ``--frontier-time`` that is not a number of seconds, before the work."""
    if not 0 <= seconds < math.inf:
        raise InputError(
            f"--frontier-time {seconds:g} is not a number of seconds.", "write 60, or 0 to leave the designs out."
        )


@contextmanager
def among_others(seconds: float, doing: str) -> Iterator[OtherDesigns]:
    """Show a progress line while a report is made; Ctrl-C skips the rest of the designs with other epsilons."""
    from ..reports.document import OtherDesigns

    with StopOnInterrupt() as stop, working(doing) as update:

        def report(number: int, total: int) -> None:
            update(
                f"Designing for other epsilons, {number} of {total}, at most about {seconds:g} s in all "
                "(Ctrl-C skips the rest)"
            )

        yield OtherDesigns(seconds, stop, report)


def read_required(require: Iterable[str] | None) -> Requirements:
    """Return the requirements of ``--require``."""
    from ..reports.facts import read_requirements

    with option("--require"):
        return read_requirements(require or ())


def command_line() -> str:
    """Return the command line as it was typed."""
    return shlex.join(["sfumato", *sys.argv[1:]])


def mechanism_from(path: Path) -> MechanismFile:
    """Return the content of a mechanism file, recognised by its first bytes, or the mechanism of a matrix."""
    from ..files import MechanismFile, read_matrix, read_mechanism_file

    if is_mechanism_file(path):
        return read_mechanism_file(path)
    try:
        return MechanismFile(read_matrix(path))
    except (DataError, InputError) as error:
        raise _explain_table(path, error) from error


def is_mechanism_file(path: Path) -> bool:
    """Return whether a file begins as mechanism files do, or cannot be read and has their ending."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(_SFM)) == _SFM or path.suffix.lower() == ".sfm"
    except OSError:
        return path.suffix.lower() == ".sfm"


def _explain_table(path: Path, error: SfumatoError) -> SfumatoError:
    """Return a better error where the file is a table of another kind, else the same one."""
    from ..geo import find_roles
    from ..tables import read_columns

    try:
        names = read_columns(path, ()).column_names
    except DataError:
        return error
    if {"secret", "output"} <= set(names):
        return DataError(
            f"{path.name} looks like samples (columns {', '.join(names)}), not like a matrix of probabilities.",
            f"sfumato audit-samples {path.name}.",
        )
    try:
        # A matrix may well have columns x and y.
        rest = [name for name in names if name.strip().lower() not in ("x", "y")]
        find_roles(rest, path.name, {})
    except DataError:
        return error
    return DataError(
        f"{path.name} looks like a table of places (columns {', '.join(names)}). audit needs a mechanism: a file "
        "from sfumato design, or a matrix with a row of probabilities for each secret.",
        f"make one first, of rows that need no protection: sfumato design {path.name} -o mine.sfm, then sfumato "
        "audit mine.sfm.",
    )
