"""The live page: two variants side by side in a browser, under a load that one turns."""
