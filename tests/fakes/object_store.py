# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A store in memory that fsspec reaches at objects://, with objects of any names and checksums.

It is flat, as real object stores are. Tests put objects there, and let it fail or change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from fsspec import AbstractFileSystem, register_implementation


class ObjectStore(AbstractFileSystem):
    """The contents of all objects are in the class; so is what happens before each download."""

    protocol = "objects"
    objects: ClassVar[dict[str, bytes]] = {}
    sizes: ClassVar[dict[str, int]] = {}  # instead of the real ones
    has_checksums: ClassVar[bool] = True
    downloads: ClassVar[list[str]] = []
    before_download: ClassVar[Callable[[str], None]] = staticmethod(lambda name: None)

    @classmethod
    def reset(cls) -> None:
        cls.objects, cls.sizes, cls.downloads = {}, {}, []
        cls.has_checksums = True
        cls.before_download = staticmethod(lambda name: None)

    @classmethod
    def put_all(cls, folder: str, **texts: str) -> None:
        """Puts texts below a folder; a double underscore in a name is a slash."""
        for name, text in texts.items():
            cls.objects[f"{folder}/{name.replace('__', '/')}"] = text.encode()

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        content = self.objects[path]
        size = self.sizes.get(path, len(content))
        checksum = {"ETag": hashlib.md5(content).hexdigest()} if self.has_checksums else {}
        return {"name": path, "size": size, "type": "file", **checksum}

    def find(self, path: str, **_: Any) -> dict[str, Any]:
        return {name: self.info(name) for name in sorted(self.objects) if name.startswith(path)}

    def get_file(self, rpath: str, lpath: str, **_: Any) -> None:
        type(self).before_download(rpath)
        self.downloads.append(rpath)
        Path(lpath).write_bytes(self.objects[rpath])


register_implementation("objects", ObjectStore, clobber=True)
