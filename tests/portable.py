"""Run the quick tests and the gallery as other machines would, and print a line for each; exit status 1 if any fails.

That is with every kernel of OpenBLAS that this processor has, on two threads, without NumPy's vector extensions, and on
points that differ by rounding.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

#: Kernels of OpenBLAS; one that the processor or the library does not have is taken for another, and left out.
KERNELS = ("Prescott", "Nehalem", "Sandybridge", "Haswell", "SkylakeX", "Zen")

#: What prints the kernels that NumPy and SciPy took, and the extensions that NumPy uses, on two lines.
PROBE = """
import numpy, scipy.linalg, threadpoolctl
from numpy._core import _multiarray_umath as made
print(*sorted(one["architecture"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"))
print(*(name for name in made.__cpu_dispatch__ if made.__cpu_features__[name]))
"""

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

#: The quick tests, and every page of the gallery.
SUITES = (["--quick", "-m", "not slow", "tests"], ["tests/test_examples.py", "-k", "test_pages_keep_their_claims"])


def run(command: list[str], settings: dict[str, str]) -> Any:
    """A command under some environment variables, with what it printed."""
    environment = {**os.environ, **settings}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def probed(**settings: str) -> list[str]:
    """The kernels and the extensions under some environment variables."""
    return run([sys.executable, "-c", PROBE], settings).stdout.splitlines() or ["none", ""]


def machines() -> dict[str, tuple[dict[str, str], list[str]]]:
    """Environment variables and options of pytest, by what they stand for."""
    found: dict[str, tuple[dict[str, str], list[str]]] = {}
    for name in KERNELS:
        kernels = probed(OPENBLAS_CORETYPE=name)[0]
        found.setdefault(f"OpenBLAS for {kernels}", ({**ONE_THREAD, "OPENBLAS_CORETYPE": name}, []))
    found["two threads"] = ({"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}, [])
    found["no vector extensions"] = ({**ONE_THREAD, "NPY_DISABLE_CPU_FEATURES": probed()[1]}, [])
    found["points changed by 1e-14"] = (ONE_THREAD, ["--perturb", "1"])
    return found


def failures(settings: dict[str, str], options: list[str]) -> list[str]:
    """What failed under some environment variables and options of pytest."""
    failed = []
    for suite in SUITES:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *suite]
        ran = run(command, settings)
        failed += [line for line in ran.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        if ran.returncode and not failed:
            failed.append((ran.stdout + ran.stderr).strip().splitlines()[-1])
    return failed


def main() -> int:
    """Run all machines, or those whose names have one of the words that are given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="words in the names of the machines to run, such as Haswell")
    words, status = parser.parse_args().words, 0
    for name, machine in machines().items():
        if words and not any(word in name for word in words):
            continue
        failed = failures(*machine)
        status |= bool(failed)
        print(f"{name}: {f'{len(failed)} failed' if failed else 'passed'}", *failed, sep="\n    ", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
