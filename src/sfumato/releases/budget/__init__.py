"""Repeated reports: what they spend, what is remembered, and what an attacker learns from all of them."""

from .accounts import Balance, BudgetError, WindowBalance
from .amounts import amount_text
from .blur import Blur
from .chain import MarkovChain
from .charges import Charge
from .composition import Composition, composed
from .curve import ErrorCurve, averaging_errors, errors_after
from .ledger import Ledger
from .migration import migrate
from .opening import new_ledger_key
from .scheme import Scheme
from .verification import LedgerCheck

__all__ = [
    "Balance",
    "Blur",
    "BudgetError",
    "Charge",
    "Composition",
    "ErrorCurve",
    "Ledger",
    "LedgerCheck",
    "MarkovChain",
    "Scheme",
    "WindowBalance",
    "amount_text",
    "averaging_errors",
    "composed",
    "errors_after",
    "migrate",
    "new_ledger_key",
]
