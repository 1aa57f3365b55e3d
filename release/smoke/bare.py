"""Without extras: the main job on the command line, a proof of what it wrote, and every public name."""

import subprocess
import sys
from pathlib import Path

import sfumato as sf

COMMAND = Path(sys.executable).with_name("sfumato")
HOME = Path(sys.prefix).resolve()

assert HOME in Path(sf.__file__).resolve().parents, f"{sf.__file__} is not what was installed in {HOME}"  # noqa: S101
for name in dir(sf):
    getattr(sf, name)
for line in (
    ["--version"],
    ["design", "--cells", "4x3", "--no-picture", "--output", "plain.sfm"],
    ["audit", "plain.sfm", "--require", "epsilon <= 1/km"],
):
    subprocess.run([COMMAND, *line], check=True)  # noqa: S603
for word, package in (("reproduce", "sfumato-papers"), ("studio", "sfumato-studio")):
    lacking = subprocess.run([COMMAND, word], check=False, capture_output=True, text=True)  # noqa: S603
    assert lacking.returncode == 1 and f"pip install {package}" in lacking.stderr  # noqa: S101, PT018
mechanism = sf.load("plain.sfm")
assert len(sf.sampler(mechanism).draw([0, 1, 2])) == 3  # noqa: S101
