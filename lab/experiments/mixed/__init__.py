"""Push or pull: posts and reads of feeds on the same service, at several reads per post."""
