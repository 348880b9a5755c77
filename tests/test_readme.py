"""The README stays true."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

import convex_tsvm as ct
from convex_tsvm import TransductiveSVC
from convex_tsvm.cli import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, flags=re.DOTALL)


def test_modelling_example_runs(capsys):
    code = [text for kind, text in BLOCKS if kind == "python"][1]
    exec(compile(code, "README.md", "exec"), {})
    out = capsys.readouterr().out
    assert "relative gap" in out
    assert "29 of 29 checks passed" in out


def test_estimator_example_runs(moons):
    X, _, y = moons
    code = next(text for kind, text in BLOCKS if kind == "python")
    names = {"X": X, "y": np.where(y == 0, -1, (y > 0).astype(int)), "X_new": X[:3]}
    exec(compile(code, "README.md", "exec"), names)
    assert isinstance(names["clf"], TransductiveSVC)


#: Pages whose commands are run, and how many of them there are, so that none gets lost unseen.
PAGES = {
    "README.md": 11,
    "docs/quickstart.rst": 1,
    "docs/certificate.rst": 2,
    "docs/guide/fit.rst": 4,
    "docs/guide/many_points.rst": 4,
    "docs/guide/prototype.rst": 1,
    "docs/guide/teach.rst": 3,
    "docs/guide/verify.rst": 3,
}
#: What stands for a file or a name in them.
STAND_INS = {"DATA": "data.npz", "NEW_DATA": "new.npz", "FILE": "file.npz", "NAME": "dai2010"}


def commands_of(page):
    """The commands of a page in its order, in blocks and in lines of text; a name alone is none."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(r"convex-tsvm ([a-z]+ [^#`\n]+)(?=[#`\n])", text)
    return [[STAND_INS.get(word, word) for word in command.split()] for command in found]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two clusters of twenty points in files of every name that the commands have."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    truth = np.resize([1, -1], 20)
    X = rng.normal(scale=0.3, size=(20, 2)) + truth[:, None]
    signs = np.where(np.arange(20) < 6, truth, 0)
    np.savez("data.npz", X=X, y=truth, labeled=[np.arange(6)])
    np.savez("new.npz", X=X)
    for name, y in (("train", signs), ("large", signs), ("test", truth)):
        dump_svmlight_file(X, y, f"{name}.svm", zero_based=False)
    kinds = {1: "ham", -1: "egg", 0: ""}
    rows = [f"{a},{b},{kinds[sign]}" for (a, b), sign in zip(X, signs, strict=True)]
    Path("points.csv").write_text("\n".join(["length,width,kind", *rows]) + "\n", encoding="utf-8")
    np.savetxt("new_points.csv", X, delimiter=",", header="length,width", comments="")
    ct.exact_search(ct.s3vm(), ct.Problem(X, signs), certificate="optimum.npz")
    page = (ROOT / "docs/guide/prototype.rst").read_text(encoding="utf-8")
    (own,) = re.findall(r"   import convex_tsvm as ct\n+   @ct\.register\n.*?\n\n", page, flags=re.DOTALL)
    Path("mine.py").write_text(inspect.cleandoc(own), encoding="utf-8")
    yield
    for name in ct.table.registered():
        del ct.table.FORMULATIONS[name]


@pytest.mark.parametrize("page", PAGES)
def test_commands_run_as_they_are_written(page, files, capsys):
    commands = commands_of(page)
    assert len(commands) == PAGES[page]
    for command in commands:
        try:
            status = main(command)
        except SystemExit as stop:  # --help
            status = stop.code
        assert status == 0, (command, capsys.readouterr().err)


def test_pages_with_commands_are_known():
    pages = ["README.md", "docs/quickstart.rst", *(f"docs/guide/{path.name}" for path in ROOT.glob("docs/guide/*.rst"))]
    assert {page for page in pages if commands_of(page)} <= set(PAGES)


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
