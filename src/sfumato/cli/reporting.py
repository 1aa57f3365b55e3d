"""Reports to sign on the command line: names, requirements and exit codes."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from .mechanism_files import exit_code
from .messages import option, say
from .progress import StopOnInterrupt, working

if TYPE_CHECKING:
    from ..core import Space
    from ..files import MechanismFile
    from ..geo import Visits
    from ..reports.document import OtherDesigns, Required
    from ..reports.maps import Outline
    from .options import SolverOptions


@dataclass(frozen=True, slots=True)
class Reporting:
    """The report at the end of a design, and its requirements."""

    path: Path | None
    required: Required | None
    seconds: float  # for designs with other epsilons

    @classmethod
    def of(cls, options: SolverOptions) -> Reporting:
        """Return the report of the options, checked before the work."""
        check_report(options.report)
        check_time(options.frontier_time)
        required = read_required(options.require) if options.require else None
        return cls(options.report, required, options.frontier_time if options.report else 0.0)

    def check_radii(self, space: Space | None = None) -> None:
        """Refuse a radius that does not fit the secrets (None for places), before the work on them begins."""
        with option("--require"):
            for risk in self.required.risks if self.required is not None else ():
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
        if self.path is None and self.required is None:
            return 0
        from ..reports.document import Origin, report

        with among_others(self.seconds, "Writing the report") as others:
            document = report(
                file,
                visits=visits,
                require=self.required or (),
                others=others,
                origin=Origin(target, source=source, designed=typed()),
                remarks=remarks,
                outline=outline,
            )
            if self.path is not None:
                document.save(self.path)
        for sentence in document.spoken:
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
        from ..reports.document import check_pages

        check_pages()


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


def read_required(require: Iterable[str] | None) -> Required:
    """Return the requirements of ``--require``."""
    from ..reports.document import read_requirements

    with option("--require"):
        return read_requirements(require or ())


def typed() -> str:
    """Return the command line as it was typed."""
    return shlex.join(["sfumato", *sys.argv[1:]])
