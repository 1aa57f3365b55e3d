"""Reports: the facts of a mechanism file, as a page to sign and as JSON."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from ... import __version__
from ..._system import atomically
from ...audits import Outcome
from ...core import Prior
from ...core.immutable import CompactRepr
from ...core.naming import quote
from ...errors import DataError, InputError
from ...escaping import plain
from ...files import MechanismFile, read_mechanism_file
from ...geo import Places, Visits, check_skip, is_city, read_visits, synthetic_city
from ...ledgers import Ledger, fingerprint
from ...optimal import Design
from ...proofs import PlaceDistortion
from ...rounding import plural
from ..facts import (
    Evidence,
    FileFacts,
    PriorFacts,
    Quantity,
    ReportFacts,
    Requirements,
    all_hold,
    as_json,
    attacks_of,
    budget_of,
    constraints_of,
    cost_of,
    error_of,
    measure_notions,
    promises_of,
    radius_of,
    read_requirements,
    subject_of,
    tuples_of,
    usual_risk,
    visits_in,
)
from ..maps import Outline
from ..maps import outline as read_outline
from ..sentences import formal_words, lead_words, requirement_words, risk_words
from .figures import map_figures
from .layout import report_page
from .other_designs import OtherDesigns, frontier_from, other_designs
from .page import Page, PageFigure
from .registry import registry_text

_SOURCE_LENGTH = 120  # characters of a source that the file names


@dataclass(frozen=True, slots=True, repr=False)
class Report(CompactRepr):
    """The report of a mechanism file."""

    facts: ReportFacts
    maps: tuple[PageFigure, ...]

    @property
    def page(self) -> Page:
        """The report as a page."""
        return report_page(self.facts, self.maps)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences on the guarantees, and on each risk and requirement."""
        risks = (sentence for risk in self.facts.risks for sentence in risk_words(risk, self.facts.subject))
        requirements = (
            requirement_words(requirement.text, requirement.outcome, requirement.reason)
            for requirement in self.facts.requirements
        )
        return (*lead_words(self.facts), *dict.fromkeys(risks), *requirements)

    @property
    def outcome(self) -> Outcome:
        """``FAILS`` if a guarantee or a requirement fails, ``UNDECIDED`` if one is not decided, else ``HOLDS``.

        A guarantee that is proved only for unconfirmed distances is not decided; one about no pair fails.
        """
        outcomes = {outcome for _, outcome in self.facts.outcomes}
        if self.facts.fails or Outcome.FAILS in outcomes:
            return Outcome.FAILS
        return Outcome.UNDECIDED if Outcome.UNDECIDED in outcomes or not self.facts.holds else Outcome.HOLDS

    def html(self) -> str:
        """Return the report as one HTML file that opens offline; needs jinja2."""
        return self.page.html()

    def json(self) -> str:
        """Return the facts as JSON; a number has a lower bound, a value, an upper bound, a unit and its source."""
        content = as_json(self.facts)
        for promise, facts in zip(content["promises"], self.facts.promises, strict=True):
            promise["formal"] = list(formal_words(facts, self.facts.subject))
        return json.dumps(content, indent=2, allow_nan=False, ensure_ascii=True) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report as a page (.html) or JSON, or an entry of the registry of deployments (.yaml).

        Raises `FileError` if it cannot be written. Raises `InputError` if the name has another ending, or an entry
        has no proved epsilon. Raises `MissingExtraError` if jinja2 is not installed.
        """
        suffix = Path(path).suffix.lower()
        if suffix == ".html":
            self.page.save(path)
        elif suffix in (".json", ".yaml"):
            content = self.json() if suffix == ".json" else registry_text(self.facts)
            with atomically(path) as temporary:
                temporary.write_text(content, encoding="utf-8")
        else:
            raise InputError(
                f"the output {plain(os.fspath(path))!r} ends in neither .html, .json nor .yaml.",
                "use one of them.",
            )


def report(
    file: MechanismFile | Design,
    *,
    visits: Visits | None = None,
    require: Requirements | Iterable[str] = (),
    sweep: str | os.PathLike[str] | None = None,
    designs: OtherDesigns | None = None,
    origin: Origin | None = None,
    remarks: Sequence[str] = (),
    outline: Outline | None = None,
    ledger: Ledger | None = None,
    registry: str | os.PathLike[str] | None = None,
    when: datetime | None = None,
) -> Report:
    """Return the report of a mechanism, with each of its guarantees proved again.

    Cost, attacks and risks are those of visits, by default those that the file stores. Requirements are such as
    ``within 1850 ft: at most 50 %`` or ``epsilon <= 0.7/km``. Other designs are those in the table of ``sfumato
    sweep``, or are made in the time of ``designs``, by default a minute. The origin names the files, for the
    command and the script that make the report again, and remarks say how the mechanism was made. An entry of the
    registry of differential-privacy deployments is written to ``registry`` (.yaml). Raises `InputError` if a
    requirement has another form, its radius does not fit the secrets, the outline lies elsewhere, or an entry has
    no proved epsilon. Raises `DataError` if the sweep is not a table of designs, or no visit is in the region.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.reports.document import report
        >>> coin = sf.mechanisms.randomised_response(sf.Space(["yes", "no"]), 1.0)
        >>> file = sf.files.MechanismFile(coin, sf.Prior.uniform(coin.secrets))
        >>> signed = report(file, require=["within 0: at most 80 %"])
        >>> signed.outcome.value, round(signed.facts.promises[0].beliefs[0].belief.upper, 4)
        ('holds', 0.7311)
    """
    content = file if type(file) is MechanismFile else MechanismFile.of_design(file, {}, visits=visits)
    origin = origin or Origin()
    demands = require if isinstance(require, Requirements) else read_requirements(require)
    known = Evidence.PROVED if visits is not None else Evidence.STATED
    where = visits if visits is not None else visits_in(content)
    promises = promises_of(content)
    limits = constraints_of(content.report_channel, content.constraints) if content.has_matrix else ()
    cost = cost_of(content, visits, is_proved=all_hold((*promises, *limits)))
    attacks, left_out = attacks_of(content, where, known)
    notions, notes, requirements = measure_notions(content, demands)
    if sweep is None:
        frontier, left = other_designs(content, promises, limits, cost, visits, designs or OtherDesigns())
        whence = "computed" if frontier else ""
    else:
        frontier, left, whence = frontier_from(sweep, promises, cost), "", plain(Path(sweep).name)
    facts = ReportFacts(
        subject_of(content),
        promises,
        limits,
        cost,
        attacks,
        left_out,
        (usual_risk(content, where, known), *(risk.judge(content, where, known) for risk in demands.risks)),
        requirements,
        frontier,
        whence,
        left,
        notions,
        notes,
        _prior(content, origin.source),
        file_facts(content, origin, when),
        tuple(map(plain, remarks)),
        0 if visits is None else len(visits),
        0 if visits is None else _outside(content, visits),
        tuples_of(content),
        radius_of(content),
        error_of(content, visits),
        None if ledger is None else budget_of(ledger),
    )
    document = Report(facts, map_figures(content, outline, visits))
    if registry is not None:
        document.save(registry)
    return document


def _outside(file: MechanismFile, visits: Visits) -> int:
    if not file.has_matrix:
        inside = file.noise.serves(visits.lat, visits.lon)
    elif isinstance(file.report_channel.secrets, Places):
        inside = file.report_channel.secrets.inside(visits.lat, visits.lon)
    else:
        return 0
    if not inside.any():
        raise DataError(
            f"none of {plural(len(visits), 'visit')} is where the file serves points.",
            "check that visits and file belong together.",
        )
    return len(visits) - int(inside.sum())


def _prior(file: MechanismFile, source: str) -> PriorFacts:
    prior: Prior | None = file.prior
    entropy = None if prior is None else Quantity.about(prior.entropy_bits, "bit")
    even = prior is not None and prior.even
    places = visits = 0
    for guarantee in file.guarantees if file.has_matrix else ():
        if isinstance(guarantee, PlaceDistortion) and not places:
            places, visits = len(guarantee.degrees), int(guarantee.times.sum())
    if not file.has_matrix and not source and file.source:
        source = f"{quote(file.source, _SOURCE_LENGTH)}, as its writer states"
    table = not file.has_matrix and file.noise.remap is not None
    return PriorFacts(prior is not None, plain(source), entropy, places, visits, table, even)


def report_file(
    file: str | os.PathLike[str],
    *,
    visits: str | os.PathLike[str] | None = None,
    require: Iterable[str] = (),
    sweep: str | os.PathLike[str] | None = None,
    source: str = "",
    why: str = "",
    user: str | None = None,
    outline: str | os.PathLike[str] | None = None,
    ledger: str | None = None,
    frontier_time: float | None = None,
    skip_damaged: bool = False,
) -> Report:
    """Return the report of a mechanism file, with the command and the script that make it again.

    Raises `FileError` if the file is not one of a mechanism. Raises `InputError` as `report`. Raises `DataError`
    as `report`, or if the visits cannot be read.
    """
    texts = tuple(require)
    demands = read_requirements(texts)
    content = read_mechanism_file(file)
    points = None
    if visits is not None and is_city(Path(visits)):
        check_skip("the built-in city", skip_damaged=skip_damaged)
        points = synthetic_city()
    elif visits is not None:
        points = read_visits(visits, skip_damaged=skip_damaged)
    if points is not None and user is not None:
        points = points.of_user(user)
    at, swept, land = (None if path is None else Path(path) for path in (visits, sweep, outline))
    words = (texts, source, why, ledger or "", user or "")
    how: Any = {"frontier_time": frontier_time, "skip_damaged": skip_damaged}
    origin = Origin(Path(file), at, swept, land, *words, **how)
    return report(
        content,
        visits=points,
        require=demands,
        sweep=sweep,
        designs=None if frontier_time is None else OtherDesigns(frontier_time),
        origin=origin,
        outline=None if outline is None else read_outline(outline),
        ledger=None if ledger is None else Ledger(ledger),
    )


@dataclass(frozen=True, slots=True, repr=False)
class Origin(CompactRepr):
    """The files and options that a report is made from."""

    file: Path | None = None
    visits: Path | None = None
    sweep: Path | None = None
    outline: Path | None = None
    require: tuple[str, ...] = ()  # as written
    source: str = ""  # of the prior, in words
    why: str = ""  # the reason for the epsilon, in words
    ledger: str = ""  # its address
    user: str = ""  # whose visits count
    designed: str = ""  # the command that made mechanism and report
    frontier_time: float | None = None  # seconds for other designs
    command: str = ""  # the command that made the report from the file
    skip_damaged: bool = False


def file_facts(file: MechanismFile | None, origin: Origin, when: datetime | None = None) -> FileFacts:
    """Return the hash of a file, and the time, command and script of its report."""
    name, digest, size, mark = "", "", 0, ""
    if origin.file is not None:
        content = origin.file.read_bytes()
        name, digest, size = plain(origin.file.name), sha256(content).hexdigest(), len(content)
        mark = "" if file is None else fingerprint(file.mechanism).hex()
    claims = {} if file is None else file.claims
    return FileFacts(
        name,
        digest,
        size,
        mark,
        __version__,
        (when or datetime.now(UTC)).isoformat(timespec="seconds"),
        _command(origin),
        _script(origin),
        tuple(plain(name)[:60] for name in sorted(claims)[:20]),
        () if file is None else tuple(map(plain, file.stated)),
        plain(claims.get("solver", ""))[:60],
        plain(origin.why),
    )


def _command(origin: Origin) -> str:
    """Return the command that writes the report again; "" without a file."""
    if origin.designed or origin.command or origin.file is None:
        return plain(origin.designed or origin.command)
    parts = ["sfumato", "report", str(origin.file)]
    for name, value in _options(origin).items():
        option = f"--{name.replace('_', '-')}"
        for setting in value if name == "require" else (value,):
            parts += [option] if setting is True else [option, str(setting)]
    return plain(shlex.join([*parts, "-o", "report.html"]))


def _script(origin: Origin) -> str:
    """Return a program that writes the report again; "" without a file."""
    if origin.designed:
        return f"import subprocess\n\nsubprocess.run({shlex.split(origin.designed)!a}, check=True)\n"
    if origin.file is None:
        return ""
    options = {"file": str(origin.file), **_options(origin)}
    return (
        "from sfumato.reports.document import report_file\n\nfound = report_file(\n"
        + "".join(f"    {name}={value!a},\n" for name, value in options.items())
        + ')\nfound.save("report.html")\nfound.save("report.json")\n'
    )


def _options(origin: Origin) -> dict[str, Any]:
    paths = {"visits": origin.visits, "sweep": origin.sweep, "outline": origin.outline}
    options: dict[str, Any] = {name: str(path) for name, path in paths.items() if path is not None}
    if origin.frontier_time is not None:
        options["frontier_time"] = origin.frontier_time
    names = ("user", "ledger", "require", "source", "why", "skip_damaged")
    return options | {name: getattr(origin, name) for name in names if getattr(origin, name)}
