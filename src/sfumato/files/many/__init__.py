"""Designs for many people: a folder of mechanism files with an index, filled by any executor."""

from .folder import DesignFolder, DesignRow, read_designs
from .run import DesignNews, design_each_user, design_many

__all__ = ["DesignFolder", "DesignNews", "DesignRow", "design_each_user", "design_many", "read_designs"]
