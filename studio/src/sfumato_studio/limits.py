"""Limits of the studio: on bytes, places, jobs and all else that a visitor can ask for."""

from __future__ import annotations

from typing import Final

UPLOAD_BYTES: Final = 64 * 2**20
"""Bytes of a file that is dropped on the page."""

OUTLINE_BYTES: Final = 20 * 2**20
"""Bytes of an outline."""

UNPACKED_BYTES: Final = 512 * 2**20
"""Bytes of such a file once it is unpacked."""

BODY_BYTES: Final = 2**20
"""Bytes of any other request."""

VIEW_BYTES: Final = 2**16
"""Bytes of what a page may keep for itself in a workspace."""

ROWS: Final = 2_000_000
"""Rows of a table."""

MEMORY_BYTES: Final = 6 * 2**30
"""Addresses that the process may take which reads a file of a visitor."""

READ_SECONDS: Final = 60.0
"""Time for reading a file."""

REPORT_SECONDS: Final = 300.0
"""Time for making a report."""

LEAST_PLACES: Final = 30
MOST_PLACES: Final = 300
USUAL_PLACES: Final = 120
"""About how many places a map is divided into."""

POLYGON_CORNERS: Final = 200
"""Corners of an area that is drawn."""

MOST_LABELS: Final = 200
"""Values of a column."""

SHARES: Final = 1_000
"""Reports that are drawn at once."""

PATH_POINTS: Final = 100
"""Stops of a walk, and reports at each."""

WALK_REPORTS: Final = 1_000
"""Reports of a walk in all."""

JOBS_RUNNING: Final = 3
"""Jobs that run at the same time, of all workspaces."""

WORKSPACES: Final = 200
"""Workspaces that are kept."""

LEVELS: Final = 12
"""Levels of the slider."""

PEOPLE: Final = 1_000
"""People of a survey, unless a number is given."""

STATES_KEPT: Final = 5
"""Designs of a workspace that were stopped and can be resumed; older ones start again."""

PROGRESS_LINES: Final = 500
"""Lines of progress that a job keeps."""

VISITS_FILE: Final = "visits.parquet"
"""The name under which the studio keeps the visits of a file, once they are read."""

MECHANISM_FILE: Final = "mechanism.sfm"
"""The name under which the studio keeps a mechanism file that was opened."""
