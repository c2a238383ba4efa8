"""The published author's own code as a variant: fetched at a pinned commit, never committed."""
