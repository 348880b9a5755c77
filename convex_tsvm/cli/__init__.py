"""The command line, ``convex-tsvm``: solve, compare, linear, convert, bound, verify, derive, predict."""

import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0 solved, 1 not solved, 2 bad input."""
    from ..progress import told
    from ..validation import InfeasibleError
    from .parser import BadUsage, read_request
    from .requests import Request
    from .table import check_outputs, print_json

    request = Request()

    def complain(message: str) -> None:
        _complain("error", message, request.progress)

    try:
        request, run = read_request(arguments)
        with told(request.progress), _warnings_told(request.progress):
            check_outputs(request)
            status = int(run(request))
            sys.stdout.flush()
            return status
    except InfeasibleError as error:
        message = " ".join(str(error).split())
        if request.json:
            print_json({"status": "infeasible", "message": message})
        complain(f"infeasible: {message}")
        return 1
    except BrokenPipeError:
        # Whoever read the output has had enough; what is left of it must not lead to an error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (BadUsage, ValueError, OSError) as error:
        complain(" ".join(str(error).split()))
        return 2
    except MemoryError as error:
        complain(f"there is not enough memory: {str(error) or 'for what is asked'}")
        return 2
    except RuntimeError as error:
        complain(f"not solved: {error}")
        return 1
    except KeyboardInterrupt:
        complain("interrupted before there was a result")
        return 1


def _complain(kind: str, message: str, progress: str) -> None:
    """Tell a person, or a program in JSON, of an "error" or a "warning" in a line on standard error."""
    shown = f"convex-tsvm: {'warning: ' if kind == 'warning' else ''}{message}"
    print(json.dumps({kind: message}) if progress == "json" else shown, file=sys.stderr)


@contextmanager
def _warnings_told(progress: str) -> Iterator[None]:
    """Warnings inside are told in a line each, without the place in the code that they come from."""

    def tell(message: Warning | str, *_: Any, **__: Any) -> None:
        _complain("warning", " ".join(str(message).split()), progress)

    with warnings.catch_warnings():
        warnings.showwarning = tell
        warnings.filterwarnings("ignore", "time_limit: ")  # the commands say so in a line of their own
        yield
