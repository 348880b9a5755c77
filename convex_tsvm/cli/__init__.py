"""The command line: ``convex-tsvm solve``, ``compare``, ``linear``, ``convert``, ``bound``, ``verify``, ``predict``."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0 solved, 1 not solved, 2 bad input."""
    from ..progress import told
    from ..validation import InfeasibleError
    from .parser import BadUsage, build_parser

    options = None
    try:
        options = build_parser().parse_args(arguments)
        with told(getattr(options, "progress", "auto")):
            return int(options.run(options))
    except InfeasibleError as error:
        message = " ".join(str(error).split())
        if getattr(options, "json", False):
            print(json.dumps({"status": "infeasible", "message": message}))
        print(f"convex-tsvm: infeasible: {message}", file=sys.stderr)
        return 1
    except (BadUsage, ValueError, OSError) as error:
        message = " ".join(str(error).split())
        print(f"convex-tsvm: {message}", file=sys.stderr)
        return 2
    except RuntimeError as error:
        print(f"convex-tsvm: not solved: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("convex-tsvm: interrupted before there was a result", file=sys.stderr)
        return 1
