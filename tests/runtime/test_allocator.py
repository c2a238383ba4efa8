import subprocess
import sys

MAKE_ARRAYS = """
import resource, sys
import numpy as np
from runtime.allocator import keep_freed_memory
if sys.argv[1] == "kept":
    keep_freed_memory()
def pages():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(2):
    before = pages()
    for _ in range(20):
        [np.ones(1_000_000) for _ in range(5)]
print(pages() - before)
"""


def pages_asked_for(how):
    command = (sys.executable, "-c", MAKE_ARRAYS, how)
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_arrays_reuse_the_memory_of_earlier_ones():
    assert pages_asked_for("kept") < 100 < 1000 < pages_asked_for("returned")
