"""What the command line tells before, beside and after its work: help, completion, progress for programs, tables."""

import argparse
import json
import os
import re
import subprocess
import sys

import pytest

from convex_tsvm import progress
from convex_tsvm.cli import main
from convex_tsvm.cli.parser import build_parser
from convex_tsvm.cli.table import print_table
from convex_tsvm.solution import Iteration


def commands():
    parser = build_parser()
    [found] = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return found.choices


@pytest.mark.parametrize("name", commands())
def test_every_command_has_an_example_that_parses(name):
    command = commands()[name]
    assert f"example:\n  convex-tsvm {name} " in command.format_help()
    example = command.epilog.split("\n")[1].split()
    assert build_parser().parse_args(example[1:]).run is not None


@pytest.mark.parametrize("name", commands())
def test_options_are_in_groups_and_say_their_defaults(name):
    command = commands()[name]
    loose = [action for action in command._optionals._group_actions if "--help" not in action.option_strings]
    if name != "convert":
        assert not loose
    for action in command._actions:
        assert action.help, action
        # A switch is off by default, and a file is not written.
        told = action.nargs == 0 or not action.option_strings or action.metavar in ("FILE", "MODEL", "NAME=VALUE")
        of_paper = action.dest in ("paper", "lesson", "of_data", "n_features")
        assert told or of_paper or "default" in action.help, action


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_is_a_script_that_knows_commands_options_and_values(capsys, shell):
    pytest.importorskip("shtab")
    with pytest.raises(SystemExit) as end:
        main(["--print-completion", shell])
    assert end.value.code == 0
    script = capsys.readouterr().out
    for word in ("compare", "--relaxation" if shell != "tcsh" else "relaxation", "envelope", "switching"):
        assert word in script


def test_the_completion_completes_in_bash(capsys):
    pytest.importorskip("shtab")
    with pytest.raises(SystemExit):
        main(["--print-completion", "bash"])
    asked = (
        "\nCOMP_WORDS=(convex-tsvm bound x --relaxation en); COMP_CWORD=4; "
        "$(complete -p convex-tsvm | sed 's/.*-F \\([^ ]*\\).*/\\1/') convex-tsvm en --relaxation; echo ${COMPREPLY[@]}"
    )
    found = subprocess.run(["bash", "-c", capsys.readouterr().out + asked], capture_output=True, text=True, check=False)
    assert found.stdout.strip() == "envelope", found.stderr


def test_completion_without_shtab_names_it(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["--print-completion", "bash"]) == 2
    assert "needs shtab" in capsys.readouterr().err


def test_progress_that_a_program_can_read(capsys, monkeypatch):
    monkeypatch.setitem(progress.PAUSES, "json", 0.0)
    assert main(["solve", "two_moons", "--sigma", "0.3", "--json", "--progress", "json"]) == 0
    captured = capsys.readouterr()
    result, lines = json.loads(captured.out), [json.loads(line) for line in captured.err.splitlines()]
    steps = [line for line in lines if "step" in line]
    assert steps
    assert {line["progress"] for line in steps} == {"cccp (auto)"}
    assert steps[-1]["objective"] == pytest.approx(result["objective"], rel=1e-6)
    assert all(line["seconds"] >= 0 and isinstance(line["text"], str) for line in lines)


def test_a_program_is_told_the_share_and_a_person_is_not_told_json(capsys, monkeypatch):
    monkeypatch.setitem(progress.PAUSES, "json", 0.0)
    iteration = Iteration(stage=2.0, step_objective=1.5, objective=1.5, changed=3, outputs=None)
    with progress.told("json"), progress.status_line(lambda: "work", lambda first, now: 0.25) as line:
        line.step(iteration)
    told = json.loads(capsys.readouterr().err)
    assert told["progress"] == "work"
    assert (told["share"], told["step"], told["changed"], told["stage"]) == (0.25, 1, 3, 2.0)
    with progress.told("json"), progress.share_line("reading") as show:
        show(0.5)
    assert json.loads(capsys.readouterr().err)["share"] == 0.5
    with progress.status_line(lambda: "work") as line:
        assert line is None
    with progress.told("none"), progress.status_line(lambda: "work", lines=True) as line:
        assert line is None


def test_a_bound_ends_at_its_time_limit(capsys):
    arguments = ["bound", "two_moons", "--sigma", "0.3", "--loss", "squared_hinge", "--relaxation", "signs"]
    assert main([*arguments, "--time-limit", "0.001", "--json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert result["status"] == "time_limit"
    assert -1e-6 <= result["lower_bound"] <= result["objective"]
    assert main([*arguments, "--time-limit", "0"]) == 2
    assert "time_limit=0.0 must be a finite number > 0" in capsys.readouterr().err


def test_a_device_is_for_the_native_solver(capsys):
    arguments = ["solve", "two_moons", "--sigma", "0.3", "--json", "--balance", "labeled", "--device", "numpy"]
    assert main(arguments) == 0
    there = json.loads(capsys.readouterr().out)
    assert main(arguments[:-2]) == 0
    assert there["objective"] == pytest.approx(json.loads(capsys.readouterr().out)["objective"], rel=1e-6)
    assert main([*arguments, "--solver", "cvxpy"]) == 2
    assert "device='numpy'" in capsys.readouterr().err


RESULTS = [
    {"method": "cccp", "solver": "native", "objective": 1.25, "status": "converged"},
    {"method": "sdp", "solver": "-", "objective": None, "status": "failed", "reason": "there was too much of it"},
]


def test_a_table_in_a_pipe_is_plain_text(capsys):
    print_table(RESULTS)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["method", "solver", "objective", "status"]
    assert set(lines[1]) == {"-", " "}
    assert lines[3].endswith("failed: there was too much of it")
    assert lines[0].index("objective") == lines[2].index("1.25")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("columns", "terminal"), [(60, "xterm"), (80, "xterm"), (200, "xterm"), (60, "dumb")])
def test_a_table_on_a_terminal_has_rules_and_breaks_no_figure(columns, terminal):
    import pty

    figures = {"lower_bound": 3.07529, "gap": 0.708, "step_duality_gap": 1e-15, "error_unlabeled": 0.0052}
    results = [
        {**figures, "method": "cccp", "solver": "native", "loss": "symmetric_ramp(-0.3)", "objective": 10.537551,
         "agreement": 0.995, "iterations": 3, "seconds": 0.021, "status": "converged"},
        *RESULTS,
    ]  # fmt: skip
    script = f"from convex_tsvm.cli.table import print_table; print_table({results!r})"
    reader, writer = pty.openpty()
    environment = {**os.environ, "TERM": terminal, "COLUMNS": str(columns)}
    with subprocess.Popen([sys.executable, "-c", script], stdout=writer, env=environment) as child:
        child.wait(60)
    os.close(writer)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", os.read(reader, 20000).decode())
    os.close(reader)
    assert "───" in shown
    assert max(map(len, shown.splitlines())) <= columns
    for word in ("10.537551", "3.07529", "70.8%", "0.52%", "native", "converged", "1.25", "cccp", "sdp"):
        assert word in shown
