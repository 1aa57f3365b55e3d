"""The distribution of the studies: one is run, and its page written."""

import subprocess
import sys
from pathlib import Path

COMMAND = Path(sys.executable).with_name("sfumato")

subprocess.run([COMMAND, "reproduce", "introductory", "--quick", "--output", "study"], check=True)  # noqa: S603
assert "</html>" in Path("study/index.html").read_text(encoding="utf-8")  # noqa: S101
