"""Loads Stream-Framework's manager with its parameter ``async`` renamed: a keyword since 3.7.

Imported before ``stream_framework.feed_managers.base``.
"""
# mypy: ignore-errors

import re
import sys
from importlib.machinery import PathFinder, SourceFileLoader

RENAMED = "stream_framework.feed_managers.base"


class Renaming(SourceFileLoader):
    def get_code(self, fullname):
        source = re.sub(rb"\basync\b", b"run_async", self.get_data(self.path))
        return self.source_to_code(source, self.path)


class Finder(PathFinder):
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname != RENAMED:
            return None
        spec = super().find_spec(fullname, path, target)
        spec.loader = Renaming(fullname, spec.origin)
        return spec


sys.meta_path.insert(0, Finder)
