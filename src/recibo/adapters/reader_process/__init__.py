"""One reader process: the code that runs in it, its sandbox, and the parent's side."""
