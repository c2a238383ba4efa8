"""Services that aren't ours, measured and audited through the API of docs/target-api.md alone."""
