"""What the C library does with memory that is given back to it."""

import ctypes

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # malloc.h
KEEP_BYTES = 64 << 20
LARGEST_BYTES = 32 << 20
"""Of one piece; glibc takes no higher threshold."""


def keep_freed_memory() -> None:
    """Let the arrays of a batch be made where those of the last one were.

    glibc returns what is large to the system, which has to clear each page before it hands it out
    again (docs/decisions/0032). Other C libraries are left as they are.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:
        mallopt(M_TRIM_THRESHOLD, KEEP_BYTES)
        mallopt(M_MMAP_THRESHOLD, LARGEST_BYTES)
