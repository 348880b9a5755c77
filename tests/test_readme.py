"""The README stays true."""

import re
from pathlib import Path

import numpy as np
import pytest

from convex_tsvm import TransductiveSVC
from convex_tsvm.cli.parser import build_parser

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, flags=re.DOTALL)


def test_modelling_example_runs(capsys):
    code = [text for kind, text in BLOCKS if kind == "python"][1]
    exec(compile(code, "README.md", "exec"), {})
    out = capsys.readouterr().out
    assert "relative gap" in out
    assert "58 of 58 checks passed" in out


def test_estimator_example_runs(moons):
    X, _, y = moons
    code = next(text for kind, text in BLOCKS if kind == "python")
    names = {"X": X, "y": np.where(y == 0, -1, (y > 0).astype(int)), "X_new": X[:3]}
    exec(compile(code, "README.md", "exec"), names)
    assert isinstance(names["clf"], TransductiveSVC)


def test_commands_parse():
    commands = [line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines() if "convex-tsvm" in line]
    assert len(commands) == 10
    for command in commands:
        assert callable(build_parser().parse_args(command.split()[1:]).run)


def test_two_commands_are_in_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test"):
        assert f"make {target}" in README
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def slugs(path):
    """Anchors of a page of reStructuredText, as they are made of its titles."""
    titles = re.findall(r"^(.+)\n[=-]{4,}$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") for title in titles}


def test_links_lead_somewhere():
    for target, anchor in re.findall(r"\]\(([^)#]+)#?([^)]*)\)", README):
        assert target.startswith("http") or (ROOT / target).exists(), target
        assert not anchor or anchor in slugs(ROOT / target), anchor


@pytest.mark.parametrize("anchor", ["which-method-to-take", "few-labels-in-practice"])
def test_old_links_into_the_guide_still_lead_somewhere(anchor):
    assert anchor in slugs(ROOT / "docs" / "guide.rst")
