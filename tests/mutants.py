"""Plant faults in the package, one at a time, and say which of them no test sees; exit status 1 if there are any.

A fault is a text of one file, which stands there exactly once, and what it is replaced by; beside it stand the tests
that must fail then.  Everything happens in a copy of the package and its tests, in a temporary folder: the working tree
is not touched.  First the tests are run without a fault, so that a failure says something.  Then each fault is planted,
its tests are run up to the first failure, and the file is put back.

Compiled loops are kept beside their files in the copy, so that they are compiled anew only for a fault in a file of
loops.
"""

import argparse
import concurrent.futures
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from planted import FAULTS, Fault

ROOT = Path(__file__).parents[1]

#: What the tests of faults need: the package, the tests, and the page that examples in docstrings start from.
COPIED = (
    "convex_tsvm",
    "tests",
    "benchmarks/results/papers.json",
    "docs/reference.rst",
    "conftest.py",
    "pyproject.toml",
)

#: A test that has not ended after so many seconds has seen the fault.
SECONDS = 300

#: What pytest's exit statuses mean here.
PASSED, FAILED, INTERRUPTED = 0, 1, 2


class Outcome(NamedTuple):
    """What became of a fault: whether a test failed, what is to be said of it, and how long that took."""

    seen: bool
    said: str
    seconds: float


class Copy:
    """A copy of the package and its tests, with the loops that have been compiled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def of_the_tree(cls, folder: Path) -> "Copy":
        """A copy of the working tree's files."""
        for name in COPIED:
            source, target = ROOT / name, folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.pyc"))
            else:
                shutil.copy2(source, target)
        return cls(folder)

    def another(self, folder: Path) -> "Copy":
        """A copy of this one."""
        shutil.copytree(self.folder, folder)
        return Copy(folder)

    def run(self, tests: list[str], seconds: float | None = None) -> tuple[int, str]:
        """Pytest's exit status, and what it printed; FAILED if it did not end in time."""
        settings = {
            "PYTHONPATH": str(self.folder),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "HYPOTHESIS_PROFILE": "first",
            "PYTHONDONTWRITEBYTECODE": "",
            "CONVEX_TSVM_DATA": os.environ.get("CONVEX_TSVM_DATA", str(ROOT / ".." / "shared" / "data")),
        }
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not slow", *tests]
        try:
            ran = subprocess.run(
                command,
                cwd=self.folder,
                env={**{key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}, **settings},
                capture_output=True,
                text=True,
                check=False,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            return FAILED, f"FAILED {tests[0]} - it did not end in {seconds} s"
        return ran.returncode, ran.stdout + ran.stderr

    def plant(self, fault: Fault) -> Outcome:
        """Run the tests of a fault with the fault in its file, which is put back."""
        began, path = time.perf_counter(), self.folder / "convex_tsvm" / fault.file
        text, facts = path.read_text(encoding="utf-8"), path.stat()
        # What has been compiled of a file of loops is put back with it.
        compiled, kept = path.parent / "__pycache__", self.folder / "compiled"
        if path.name == "_loops.py":
            shutil.copytree(compiled, kept)
        path.write_text(text.replace(fault.text, fault.fault), encoding="utf-8")
        try:
            status, printed = self.run(list(fault.tests), SECONDS)
        finally:
            # With the time at which it was written, by which compiled code is told from what is out of date.
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
            if kept.exists():
                shutil.rmtree(compiled)
                kept.rename(compiled)
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", printed, flags=re.MULTILINE)
        said = failed[1] if failed else (printed.strip().splitlines() or ["nothing was printed"])[-1]
        return Outcome(status in (FAILED, INTERRUPTED), said, time.perf_counter() - began)


def misplaced(fault: Fault) -> str | None:
    """Why a fault cannot be planted, or None."""
    path = ROOT / "convex_tsvm" / fault.file
    if not path.exists():
        return f"there is no file convex_tsvm/{fault.file}"
    count = path.read_text(encoding="utf-8").count(fault.text)
    return None if count == 1 else f"convex_tsvm/{fault.file} has {fault.text!r} {count} times; it must be once"


def chosen(pattern: str | None) -> list[Fault]:
    """The faults whose file, name or tests have a pattern in them."""
    return [one for one in FAULTS if pattern is None or re.search(pattern, " ".join((one.file, one.name, *one.tests)))]


def main() -> int:
    """Run all faults, or those that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="PATTERN", help="a regular expression, of files, names and tests of faults")
    parser.add_argument("--list", action="store_true", help="print the faults and the tests that must see them")
    parser.add_argument("--jobs", type=int, default=2, help="how many faults are tried at once (default: 2)")
    given = parser.parse_args()
    faults = chosen(given.only)
    if given.list:
        for fault in faults:
            print(f"{fault.file}: {fault.name}", *fault.tests, sep="\n    ")
        return 0
    lost = {fault: why for fault in faults if (why := misplaced(fault)) is not None}
    faults = [fault for fault in faults if fault not in lost]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        found = tried(faults, Path(folder), max(1, given.jobs))
    unseen = [fault for fault, outcome in found.items() if not outcome.seen]
    for fault in unseen:
        print(f"NOT SEEN: {fault.file}: {fault.name}", *fault.tests, sep="\n    ")
    for fault, why in lost.items():
        print(f"NOT PLANTED: {fault.name}: {why}")
    print(f"{len(found) - len(unseen)} of {len(found)} faults are seen, {len(lost)} could not be planted")
    return int(bool(unseen or lost or len(found) < len(faults)))


def tried(faults: list[Fault], folder: Path, jobs: int) -> dict[Fault, Outcome]:
    """What became of each fault; of none if the tests fail without one."""
    copies = [Copy.of_the_tree(folder / "0")]
    began, tests = time.perf_counter(), sorted({test for fault in faults for test in fault.tests})
    status, printed = copies[0].run(tests) if tests else (PASSED, "")
    print(f"{len(tests)} tests without a fault: {time.perf_counter() - began:.0f} s", flush=True)
    if status != PASSED:
        print(printed, "The tests fail without a fault, so that no fault was planted.", sep="\n")
        return {}
    copies += [copies[0].another(folder / str(number)) for number in range(1, jobs)]
    free: queue.SimpleQueue[Copy] = queue.SimpleQueue()
    for copy in copies:
        free.put(copy)

    def plant(fault: Fault) -> Outcome:
        copy = free.get()
        try:
            outcome = copy.plant(fault)
        finally:
            free.put(copy)
        verdict = "seen by" if outcome.seen else "NOT SEEN"
        print(f"{outcome.seconds:5.1f} s  {fault.file}: {fault.name}: {verdict} {outcome.said}", flush=True)
        return outcome

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return dict(zip(faults, pool.map(plant, faults), strict=True))


if __name__ == "__main__":
    sys.exit(main())
