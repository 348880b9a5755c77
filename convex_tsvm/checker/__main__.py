"""Check a file from the command line."""

import sys
from pathlib import Path

if not __package__:
    # The folder alone was given to Python: it becomes a package of its name.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    __package__ = Path(__file__).resolve().parent.name
    __import__(__package__)

from .walk import check

verdict = check(sys.argv[1])
print(verdict)
sys.exit(not verdict.holds)
