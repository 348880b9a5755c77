"""What the papers describe apart from their numbered items: every row of benchmarks/rows.py does what it says."""

import sys
import warnings
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import rows


@pytest.mark.parametrize("row", rows.ROWS, ids=[one[-1].__name__ for one in rows.ROWS])
def test_a_row_holds(row):
    if row[-1] is rows.certified:
        pytest.importorskip("flint")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert row[-1]()
