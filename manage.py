#!/usr/bin/env python
import os
import sys

from runtime.command_line import run

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    run(sys.argv)
