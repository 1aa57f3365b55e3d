"""OpenAPI description as a file, written by ``python -m sfumato_studio.schema studio/web/openapi.json``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .app import describe


def schema_text() -> str:
    """Return the description of the interface as JSON."""
    return json.dumps(describe().openapi(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(schema_text(), encoding="utf-8")
