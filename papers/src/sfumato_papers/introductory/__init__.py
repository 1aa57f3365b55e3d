"""Privacy mechanisms, an introduction: Laplace noise, the exponential mechanism, and queries together.

``sfumato reproduce introductory`` runs everything.

Source: "Privacy Mechanisms", an introductory article on the Laplace and the exponential mechanism.
"""

from .paper import PAPER

__all__ = ["PAPER"]
