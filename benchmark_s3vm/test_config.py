"""What ``benchopt test`` leaves out: programs and files that are not there."""

import pytest
from benchmark_utils.hiding import DATA


def check_test_solver_run(solver):
    """Skip peers whose program or module is not there, with what to do."""
    missing = getattr(solver, "missing", None)
    if missing is not None and missing() is not None:
        pytest.skip(missing())


def check_test_dataset_get_data(dataset):
    """Skip sets of the papers' data where the folder is not there."""
    if dataset.name in ("exact", "text") and not DATA.exists():
        pytest.skip(f"{DATA} is missing; set CONVEX_TSVM_DATA")
