"""The command: ``uv run --group release python -m release check``.

`build` makes wheels, sdists, bills of materials and sums in ``build/release/dist``, the first two twice, and
compares the bytes. `check` does so and then installs them in empty environments: with each extra on each Python,
or with ``--quick`` on one without extras and, as wheels, with the papers and with the studio. Nothing is
published.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from . import FOLDER, ROOT, bom, contents
from .building import Artefacts, build, write_sums
from .interpreters import found
from .running import ReleaseError, environment, run
from .trials import BARE, COMPANIONS, PARTS, trials
from .trying import FAILED, table, try_all


def main() -> int:
    """Do what is asked; return the exit code, 1 where anything failed."""
    parser = argparse.ArgumentParser(
        prog="python -m release", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("build", "check"), help="what to do")
    parser.add_argument(
        "--quick", action="store_true", help="on this Python, without extras; the papers and the studio as wheels"
    )
    parser.add_argument("--again", action="store_true", help="also try what passed before with the same bytes")
    parser.add_argument("--python", metavar="VERSION", help="only this Python, such as 3.12")
    parser.add_argument("--extra", choices=sorted(PARTS), action="append", help="only this extra; may be repeated")
    asked = parser.parse_args()
    try:
        made = _made()
        return 0 if asked.what == "build" else _checked(made, asked)
    except ReleaseError as failure:
        sys.stderr.write(f"FAILED: {failure}\n")
        return 1


def _made() -> Artefacts:
    """Build and inspect; raise `ReleaseError` where something is not as it should be."""
    target, version = FOLDER / "dist", contents.version_of_sources()
    made = build(target)
    wrong = [
        each
        for files in ((made.wheel, made.sdist), made.papers, made.studio)
        for each in contents.inspect(*files, version)
    ]
    if wrong:
        raise ReleaseError("\n".join(wrong))
    twine = Path(sys.executable).with_name("twine")
    run([twine, "check", "--strict", *made.files], ROOT, environment())
    listed = [bom.write(target, wheel, version, made.epoch) for wheel in (made.wheel, made.studio[0])]
    sums = write_sums(target)
    _tell(f"Built twice with the same bytes, at the time of the commit ({made.epoch}): {os.path.relpath(target)}")
    for path in (*made.files, *listed, sums):
        _tell(f"  {path.stat().st_size:>10,}  {path.name}")
    _tell(sums.read_text(encoding="utf-8").rstrip())
    return made


def _checked(made: Artefacts, asked: argparse.Namespace) -> int:
    interpreters = found("running" if asked.quick else asked.python)
    extras = asked.extra or ([BARE, *COMPANIONS] if asked.quick else list(PARTS))
    given = trials((made.wheel, made.sdist), interpreters, extras, quick=asked.quick)
    outcomes = try_all(given, FOLDER / "tried.json", _tell, again=asked.again)
    _tell("\n" + table(given, outcomes))
    return 1 if any(each.status == FAILED for each in outcomes) else 0


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
