"""Settings of the C library's memory allocator."""

import ctypes

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # malloc.h
KEEP_BYTES = 64 << 20
LARGEST_BYTES = 32 << 20
"""Largest block that is kept; glibc's highest threshold."""


def keep_freed_memory() -> None:
    """Keep freed memory for the next batch of arrays.

    By default glibc returns large blocks to the system, which clears each page before reuse
    (docs/decisions/0005). Other C libraries are not changed.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:
        mallopt(M_TRIM_THRESHOLD, KEEP_BYTES)
        mallopt(M_MMAP_THRESHOLD, LARGEST_BYTES)
