"""Folders that are there as long as their owner."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any


def folder_of(owner: Any) -> Path:
    """An empty folder, which is removed with its owner."""
    path = tempfile.mkdtemp(prefix="s3vm-")
    weakref.finalize(owner, shutil.rmtree, path, ignore_errors=True)
    return Path(path)
