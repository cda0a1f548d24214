"""Which databases a test runs on: both, unless its module or the test says otherwise.

The statements of a test on SQLite alone run on PostgreSQL in other tests, too.
"""

import pytest

KINDS = ("sqlite", "postgres")
ON_SQLITE = pytest.mark.databases("sqlite")
ON_BOTH = pytest.mark.databases(*KINDS)
