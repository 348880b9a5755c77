"""Every example states its claim, and keeps it."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def load(name):
    return runpy.run_path(str(EXAMPLES / name))


def test_two_moons(tmp_path):
    errors = load("plot_two_moons.py")["two_moons"](tmp_path / "moons.png")
    assert errors["TSVM"] < errors["SVM"] / 3
    assert (tmp_path / "moons.png").stat().st_size > 10_000


def test_your_own_loss(capsys):
    for computed, expected in load("your_own_loss.py")["your_own_loss"](show=True).values():
        assert computed == pytest.approx(expected, rel=1e-6)
    out = capsys.readouterr().out
    assert "checks passed" in out
    assert "FAIL" not in out


def test_losses(tmp_path):
    below, expected = load("plot_losses.py")["losses"](tmp_path / "losses.png")["surrogate below loss"]
    assert below == pytest.approx(expected, abs=1e-12)


def test_no_example_is_forgotten():
    assert {path.name for path in EXAMPLES.glob("*.py")} == {"plot_two_moons.py", "your_own_loss.py", "plot_losses.py"}
