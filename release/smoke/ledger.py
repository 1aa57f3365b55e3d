"""The extra ledger: a budget in a file."""

import sfumato as sf

ledger = sf.Ledger.create("budget.db", "1/km")
assert ledger.charge("ada", "1/km").left == 0  # noqa: S101
