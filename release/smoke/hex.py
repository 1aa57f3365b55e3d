"""The extra hex: a design on hexagons."""

import subprocess
import sys
from pathlib import Path

COMMAND = Path(sys.executable).with_name("sfumato")

subprocess.run([COMMAND, "design", "--hexagons", "3 km", "--no-picture", "--output", "hex.sfm"], check=True)  # noqa: S603
