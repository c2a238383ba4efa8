from datetime import date

LAST_DAY = date(2025, 12, 31)
"""Of the seeded log: requests and the audit choose their days among those before it."""
DAYS = 28
"""They are among this many."""
