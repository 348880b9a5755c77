"""Lines about long work: on a terminal, and where there is none."""

import sys

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm import progress


@pytest.mark.parametrize("pause", [0.0, 1e9])
def test_without_a_terminal_there_is_a_line_now_and_then(pause, capsys, monkeypatch):
    monkeypatch.setitem(progress.PAUSES, "auto", pause)
    X = np.array([[-1.1], [-1.0], [-0.9], [0.9], [1.0], [1.1]])
    ct.TransductiveSVC(verbose=1).fit(X, [0, -1, -1, -1, -1, 1])
    said = capsys.readouterr().err
    assert ("working sets, violation" in said and "next step" in said) == (pause == 0.0)


def test_lines_are_asked_for(capsys, monkeypatch):
    monkeypatch.setitem(progress.PAUSES, "auto", 0.0)
    assert not sys.stderr.isatty()
    with progress.status_line(lambda: "work") as silent:
        assert silent is None
    with progress.status_line(lambda: "work", lines=True) as shown:
        shown.tell("half done")
    assert capsys.readouterr().err == "work: half done (Ctrl-C keeps the best so far)\n"
