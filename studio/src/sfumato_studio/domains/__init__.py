"""Domains: the secrets of a workspace, their prior and loss, and the guarantee of an epsilon."""

from .domain import Domain, Measures, Where
from .opened import OpenedDomain
from .places import PlacesDomain
from .sources import domain_of
from .values import ValuesDomain

__all__ = ["Domain", "Measures", "OpenedDomain", "PlacesDomain", "ValuesDomain", "Where", "domain_of"]
