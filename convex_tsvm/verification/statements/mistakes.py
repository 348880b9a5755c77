"""What mistakes that are planted in a derivation are made with."""

from __future__ import annotations

import copy
from typing import Any


def altered(q: Any, **given: Any) -> Any:
    """The same quantities but for those given."""
    other = copy.copy(q)
    vars(other).update(given)
    return other
