"""From the bytes of a file to its pages, with every guard on the way."""
