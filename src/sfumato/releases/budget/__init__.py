"""Time: what repeated reports spend, what a memo saves, and what an attacker learns from them all."""

from .averaging import averaging_errors
from .chain import Chain
from .curve import ErrorCurve, errors_after
from .ledger import Balance, BudgetError, Ledger
from .memo import Memo, new_memo_key
from .metered import MeteredSampler
from .scheme import Scheme
from .trace import Composition, composed

__all__ = [
    "Balance",
    "BudgetError",
    "Chain",
    "Composition",
    "ErrorCurve",
    "Ledger",
    "Memo",
    "MeteredSampler",
    "Scheme",
    "averaging_errors",
    "composed",
    "errors_after",
    "new_memo_key",
]
