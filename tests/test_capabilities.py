"""The page that says what works with what is what runs say."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))

import capabilities


def test_the_page_is_made_by_running():
    table = capabilities.found()
    assert capabilities.page(table) == capabilities.PAGE.read_text(encoding="utf-8")
    # What the README says of the default formulation, and of losses of one's own.
    for name in ("ramp (the default)", "a loss of one's own", "compact margin"):
        assert not any(cell not in (None, "-") for cell in table[name]), name
