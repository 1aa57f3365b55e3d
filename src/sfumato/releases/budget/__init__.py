"""Repeated reports: what they spend, what a memo saves, and what an attacker learns from all of them."""

from .chain import MarkovChain
from .composition import Composition, composed
from .curve import ErrorCurve, averaging_errors, errors_after
from .ledger import Balance, BudgetError, Ledger
from .memo import Memo, new_memo_key
from .metered import MeteredSampler
from .scheme import Scheme

__all__ = [
    "Balance",
    "BudgetError",
    "Composition",
    "ErrorCurve",
    "Ledger",
    "MarkovChain",
    "Memo",
    "MeteredSampler",
    "Scheme",
    "averaging_errors",
    "composed",
    "errors_after",
    "new_memo_key",
]
