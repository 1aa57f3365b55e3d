"""Make what a release consists of, and try it as users will: ``python -m release check`` in the group release."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "release"
"""What is made: ``dist`` has what would be published, ``tried.json`` what was tried, ``logs`` what that said."""
