"""Python, as a process that ends by itself."""

import os
import subprocess
import sys

WITHIN_S = 600


def python(*arguments, **env):
    """Run Python with these arguments and variables; return its status and what it printed."""
    return subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | env,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
    )
