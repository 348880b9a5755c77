"""``python -m convex_tsvm.cli`` is the same as ``convex-tsvm``."""

import sys

from . import main

sys.exit(main())
