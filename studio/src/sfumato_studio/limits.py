"""Limits on bytes, places, jobs and requests."""

from __future__ import annotations

from typing import Final

UPLOAD_BYTES: Final = 64 * 2**20  # of a file that is dropped on the page
OUTLINE_BYTES: Final = 20 * 2**20
UNPACKED_BYTES: Final = 512 * 2**20  # of such a file once it is unpacked
BODY_BYTES: Final = 2**20  # of any other request
VIEW_BYTES: Final = 2**16  # of what a page may keep for itself in a workspace
ROWS: Final = 2_000_000  # of a table
MEMORY_BYTES: Final = 6 * 2**30  # addresses that the process may take which reads a file
READ_SECONDS: Final = 60.0
REPORT_SECONDS: Final = 300.0
LEAST_PLACES: Final = 30
MOST_PLACES: Final = 300
USUAL_PLACES: Final = 120
POLYGON_CORNERS: Final = 200
MOST_LABELS: Final = 200  # values of a column
SHARES: Final = 1_000  # reports that are drawn at once
PATH_POINTS: Final = 100  # stops of a walk, and reports at each
WALK_REPORTS: Final = 1_000  # of a walk in all
JOBS_RUNNING: Final = 3  # at the same time, of all workspaces
WORKSPACES: Final = 200
LEVELS: Final = 12  # of the slider
PEOPLE: Final = 1_000  # of a survey, unless a number is given
STATES_KEPT: Final = 5  # designs of a workspace that were stopped and can be resumed; older ones start again
PROGRESS_LINES: Final = 500  # that a job keeps

VISITS_FILE: Final = "visits.parquet"  # in which the studio keeps the visits of a file
MECHANISM_FILE: Final = "mechanism.sfm"  # and a mechanism file that was opened
