"""The routes of the studio's interface."""

from .designs import designs
from .jobs import job_routes
from .mechanisms import mechanisms
from .plays import plays
from .sites import sites
from .workspaces import workspaces

__all__ = ["designs", "job_routes", "mechanisms", "plays", "sites", "workspaces"]
