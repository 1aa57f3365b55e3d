"""``sfumato release`` and ``track``: private reports for the rows of a table, tracks without a home."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from ..._system import owner_only
from ...errors import FileError, InputError, argument
from ..mechanism_files import charged_blur, mechanisms_in
from ..messages import PARTIAL, say
from ..options import KeyFile, Latitude, Longitude, People, SkipDamaged, TimeColumn, UserColumn
from ..outputs import check_ending, check_outputs
from ..place_options import OF_FILES
from .ledger import open_ledger

if TYPE_CHECKING:
    from ...core import Prior
    from ...files import MechanismFile
    from ...geo import Visits
    from ...ledgers import Ledger


def command(
    file: Annotated[
        Path,
        Argument(help="A mechanism file (.sfm); a folder with one for each --column, or for each value of --by."),
    ],
    source: Annotated[
        Path, Argument(help="The true places or labels (CSV, Parquet, Arrow, GPX, ...), or a folder of tables.")
    ],
    target: Annotated[Path, Argument(help="The table to write: .csv, .parquet or .arrow.")],
    outside: Annotated[str, Option(help="Rows outside: error, nearest (move them in) or drop.")] = "error",
    move_within: Annotated[str, Option(help="How far rows are moved at most: '2 km'.")] = "1 km",
    allow: Annotated[float, Option(help="The share of rows that may be moved or dropped.")] = 0.01,
    max_reports_per_person: Annotated[
        int | None, Option(help="Refuse the release if a person has more reports.")
    ] = None,
    max_epsilon_per_person: Annotated[
        str | None, Option(help="Refuse the release if a person's sum is above this: '50/km'.")
    ] = None,
    keep: Annotated[
        list[str] | None, Option(help="Copy this column unchanged and unprotected. Repeatable.")
    ] = None,
    column: Annotated[
        list[str] | None, Option(help="The column of labels or numbers, if no places. Repeatable.")
    ] = None,
    lat: Latitude = None,
    lon: Longitude = None,
    user_column: UserColumn = None,
    people: People = None,
    skip_damaged: SkipDamaged = False,
    uncertainty: Annotated[
        bool,
        Option("--uncertainty", help="Add a column: the radius that holds 95 % of the reports of any true point."),
    ] = False,
    prior: Annotated[
        str | None,
        Option(
            help="And one for each report, under a prior: uniform, file, or a table (secret, probability; points)."
        ),
    ] = None,
    darwin_core: Annotated[
        bool, Option("--darwin-core", help="Write coordinates and their uncertainty in Darwin Core terms.")
    ] = False,
    place_column: Annotated[
        str | None, Option(help="The column that names a user's places: one report for each place.")
    ] = None,
    also: Annotated[
        list[str] | None,
        Option(help="Another place of each row, with its own report: end_lat,end_lng. Repeatable."),
    ] = None,
    schedule: Annotated[
        str | None,
        Option(help="Release tracks at public times: '6/km every 4 h', or '3/km at 09:00, 13:00, 18:00'."),
    ] = None,
    zone: Annotated[str, Option(help="The time zone of --schedule: Europe/Paris.")] = "UTC",
    dates: Annotated[
        str | None, Option(help="The days of --schedule: '2026-01-01', or '2026-01-01,2026-01-31'.")
    ] = None,
    start: Annotated[
        str | None, Option(help="A public point 'lat,lon' for times before a user's first position.")
    ] = None,
    user_list: Annotated[
        Path | None,
        Option(help="A file of the users of --schedule, one in a line. [default: those of the source]"),
    ] = None,
    time_column: TimeColumn = None,
    by: Annotated[
        str | None, Option(help="The column that names each row's mechanism file in the folder.")
    ] = None,
    ledger: Annotated[
        str | None, Option(help="Charge users in this ledger (a path, or postgresql://...); see 'sfumato ledger'.")
    ] = None,
    key_file: KeyFile = None,
    resume: Annotated[
        bool, Option("--resume", help="Go on with an interrupted release. No row is drawn twice.")
    ] = False,
    trust_distances: Annotated[
        bool,
        Option(
            "--trust-distances", help="Believe distances that nothing in the file confirms, such as travel times."
        ),
    ] = False,
    require_signature: Annotated[
        Path | None, Option(help="Refuse mechanism files without a signature of this public key.")
    ] = None,
    receipt: Annotated[
        list[Path] | None, Option(help="Write the record of the release (.json, or .html to sign). Repeatable.")
    ] = None,
    again: Annotated[
        bool, Option("--again", help="Release this source once more; the epsilons of all releases add up.")
    ] = False,
) -> None:
    """Draw a private report for every row of a table.

    The guarantee is proved and printed before anything is drawn, with the number of reports per person:
    k reports of one person add up to k times epsilon. Other columns are left out, except those of --keep.
    The randomness is the operating system's; there is no seed. More: docs/how-to/pipeline.md.
    """
    from ...releases import check_receipt, prepare
    from ..messages import rows_line, working

    receipts = receipt or []
    for path in receipts:
        check_ending(path, ".json", page=True)
        if path.suffix.lower() == ".json":
            check_receipt(path, source, target)
    check_outputs([target, *receipts], [file, source, *([Path(ledger)] if ledger and "://" not in ledger else [])])
    if key_file is not None and ledger is None:
        raise InputError("--key-file is the key of a ledger.", "name the ledger with --ledger.")
    choice: Any = outside
    content = _read(file, by, column or (), trust_distances=trust_distances, signed_by=require_signature)
    columns: Any = None
    if column:
        columns = tuple(column) if len(column) > 1 or (isinstance(content, dict) and by is None) else column[0]
    elif isinstance(content, dict) and by is None:
        columns = tuple(content)
    if isinstance(content, dict):
        if ledger is not None:
            raise InputError("a ledger is for one mechanism.", "release each mechanism's rows by itself.")
        sampler: Any = content
    elif ledger is not None:
        sampler = charged_blur(content, open_ledger(ledger, key_file))
    else:
        sampler = content.mechanism
    plan = _schedule(schedule, zone, dates, start, user_list)
    with working("Checking the table and the mechanism"):
        job = prepare(
            sampler,
            source,
            target,
            column=columns,
            lat=lat,
            lon=lon,
            user=user_column,
            people=people,
            skip_damaged=skip_damaged,
            keep=keep or (),
            place_column=place_column,
            also=[tuple(row) for row in csv.reader(also or ())],
            by=by,
            uncertainty=uncertainty,
            prior=None if prior is None else _prior(prior, content, file),
            darwin_core=darwin_core,
            schedule=plan,
            time=time_column,
            outside=choice if plan is None or outside != "error" else None,
            within=move_within,
            allow=allow,
            max_reports_per_person=max_reports_per_person,
            max_epsilon_per_person=max_epsilon_per_person,
            resume=resume,
            again=again,
        )
    for sentence in job.promises:
        say(sentence)
    if job.people.assumed:
        say(f"Name the column of users with --user-column; or {OF_FILES}")
    try:
        with rows_line() as progress:
            release = job.run(progress)
    except KeyboardInterrupt:
        rest = "The same command with --resume goes on, and no row is drawn twice." if job.is_resumable else ""
        say(f"Interrupted. {rest or 'Nothing was begun.'}", err=True)
        raise typer.Exit(130) from None
    say(f"{release}.")
    say(f"Written: {target}")
    if receipts:
        from ...reports.document import receipt_page

        record = job.receipt(release, [file])
        for path in receipts:
            if path.suffix.lower() == ".html":
                with owner_only():
                    receipt_page(record).save(path)
            else:
                record.save(path)
            say(f"Written: {path}")


def _schedule(text: str | None, zone: str, dates: str | None, start: str | None, users: Path | None) -> Any:
    """Return the schedule of ``--schedule`` and its options; None without it."""
    if text is None:
        details = {"--zone": zone != "UTC", "--dates": dates, "--start": start, "--user-list": users}
        for option, value in details.items():
            if value:
                raise InputError(
                    f"{option} is for --schedule.", "leave it out, or write --schedule '6/km every 4 h'."
                )
        return None
    if dates is None or start is None:
        raise InputError(
            "--schedule needs the days and a public point.",
            "write --dates 2026-01-01,2026-01-31 --start 48.86,2.35.",
        )
    try:
        lat, lon = map(float, start.split(","))
    except ValueError:
        raise InputError(f"--start {start!r} is no point.", "write latitude and longitude: 48.86,2.35.") from None
    from ...ledgers import Day
    from ...releases import Schedule

    names = None if users is None else _names_in(users)
    return Schedule(Day.parse(text, zone=zone), dates.split(","), (lat, lon), names)


def _names_in(path: Path) -> list[str]:
    """Return the names in a file of text, one in a line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{str(path)!r} cannot be read as text ({error}).", "write one user in a line.") from None
    return [line.strip() for line in lines if line.strip()]


def _prior(text: str, content: MechanismFile | dict[str, Any], file: Path) -> tuple[str, Prior | Visits]:
    """Return the name and the prior of ``--prior``: uniform, that of the mechanism file, or a table."""
    from ...geo import read_visits
    from ..audit_knowledge import prior_from

    if isinstance(content, dict):
        raise InputError("--prior is for one mechanism.", "leave it out: --uncertainty needs no prior.")
    if not content.has_matrix:
        if not Path(text).suffix:
            raise InputError(
                f"--prior {text!r} is no table of points, which the prior of noise is.", "name a .csv or .parquet."
            )
        points = read_visits(text, people="one")
        for remark in points.notes:
            say(f"Note: {text}: {remark}", err=True)
        return text, points
    if text != "file":
        return text, prior_from(content.report_channel.secrets, text)
    if content.prior is None:
        raise InputError(f"{file} holds no prior.", "write --prior uniform, or name a table.")
    return f"that of {file.name}", content.prior


def _read(file: Path, by: str | None, columns: Sequence[str], **trust: Any) -> MechanismFile | dict[str, Any]:
    from ...files import read_mechanism_file

    if by is None:
        if file.is_dir():
            files = mechanisms_in(file, columns, **trust)
            if not columns:
                _check_columns(files, file)
            return {name: content.mechanism for name, content in files.items()}
        return read_mechanism_file(file, **trust)
    if not file.is_dir():
        raise InputError(
            f"{argument('by', by)} was given, but {str(file)!r} is not a folder.",
            "give a folder of mechanism files, one named after each value of that column.",
        )
    from ...files.many import read_designs

    return read_designs(file, **trust)


def _check_columns(files: Mapping[str, MechanismFile], folder: Path) -> None:
    """Refuse a folder of mechanisms for places, whose names are not columns."""
    from ...geo import Places

    for name, content in files.items():
        if not content.has_matrix or isinstance(content.report_channel.secrets, Places):
            raise InputError(
                f"the folder {str(folder)!r} holds mechanisms for places, such as {name!r}, but it was not said "
                "which of them draws which row.",
                "if there is one for each user, name the column of users: --by user",
                "release with one of the mechanism files.",
            )


def track(
    source: Annotated[Path, Argument(help="A recorded track (.gpx, .geojson, .fit), or a folder of them.")],
    output: Annotated[
        Path, Option("--output", "-o", help="The track to write (.gpx or .geojson), or a folder for a folder.")
    ],
    home: Annotated[
        list[str] | None, Option(help="Where you live, stated once: '48.86,2.35' (latitude, longitude).")
    ] = None,
    place: Annotated[
        list[str] | None, Option(help="Another place to hide, stated once: 'work=48.87,2.31'. Repeatable.")
    ] = None,
    move: Annotated[
        bool, Option("--moved", help="The stated places are new ones: draw new zones outside the old ones.")
    ] = False,
    radius: Annotated[
        str | None, Option(help="The radius of every zone, fixed with the first. [default: 500 m]")
    ] = None,
    allow_small: Annotated[bool, Option("--allow-small", help="Allow a radius below 500 m.")] = False,
    times: Annotated[str, Option(help="keep, shift (start at 1970, holes closed) or drop.")] = "keep",
    loop_only: Annotated[
        bool, Option("--loop-only", help="Only the loop, without the ways to it and back.")
    ] = False,
    ledger: Annotated[
        str | None, Option(help="The ledger with the zones. [default: one in your folder of settings]")
    ] = None,
    key_file: KeyFile = None,
) -> None:
    """Cut the surroundings of your home out of recorded tracks.

    A zone is drawn once around each place and stored in the ledger. It is cut from every track, on to the next
    turn and a random length further. Later runs cut all zones of the ledger; no place need be stated. Names,
    metadata, sensors and extensions are left out. More: docs/how-to/tracks.md.
    """
    from ...core import units
    from ...rounding import amount, plural
    from ...tracks import Zones, release_tracks

    if home and len(home) > 1:
        raise InputError("a home was given twice.", "give one home; other places are --place NAME=LAT,LON.")
    places = [("home", value) for value in home or ()] + [_split(value) for value in place or ()]
    names = [name for name, _ in places]
    if len(set(names)) < len(names):
        raise InputError("two places have one name.", "give each a name of its own.")
    positions = [(name, *_position(value)) for name, value in places]
    metres = None if radius is None else units.length_m(radius, "the radius")
    if metres is not None and metres % 1:
        raise InputError(f"the radius {radius!r} is not in whole metres.", "write --radius '500 m'.")
    zones = Zones(
        _ledger(ledger, key_file, create=bool(positions)),
        radius_m=None if metres is None else int(metres),
        allow_small=allow_small,
    )
    for name, lat, lon in positions:
        before = len(zones.zones)
        zones.add(name, lat, lon, move=move)
        if len(zones.zones) > before:
            say(f"Drawn: the zone of {name!r}, radius {amount(zones.radius_m, 'm')}. It is not drawn again.")
    release = release_tracks(source, output, zones, times=times, loop_only=loop_only)
    for sentence in release.sentences:
        say(sentence)
    for path in release.written:
        say(f"Written: {path}")
    for path in release.empty:
        say(f"Not written: nothing is visible of {path}", err=True)
    if release.empty:
        say(f"{plural(len(release.empty), 'file')} left out.", err=True)
        raise typer.Exit(PARTIAL)


def _ledger(address: str | None, key_file: Path | None, *, create: bool) -> Ledger:
    """Return the named ledger; or the person's own, which is made with the first place."""
    from ...ledgers import Ledger

    if address is not None:
        return open_ledger(address, key_file)
    if key_file is not None:
        raise InputError("--key-file is the key of a ledger.", "name the ledger with --ledger.")
    path = Path(typer.get_app_dir("sfumato")) / "zones.db"
    if path.exists():
        return Ledger(path)
    if not create:
        raise InputError(f"there are no zones yet: no {str(path)!r}.", "state your home with --home LAT,LON.")
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    created = Ledger.create(path, 1)  # zones cost nothing; nothing else is charged there
    say(f"Made: {path}, the ledger of your zones. Back it up, and copy it to your other computers first:")
    say("a zone that is drawn again for the same home gives away more. It is private.")
    return created


def _split(value: str) -> tuple[str, str]:
    name, equals, position = value.partition("=")
    if not equals or not name.strip():
        raise InputError("a place has no name.", "write a name, an equals sign and a position.")
    return name.strip(), position


def _position(value: str) -> tuple[float, float]:
    try:
        lat, lon = map(float, value.split(","))
    except ValueError:
        raise InputError("a place is not a latitude and a longitude.", "write it as 48.86,2.35.") from None
    return lat, lon
