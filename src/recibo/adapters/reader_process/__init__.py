"""One reader process: what runs in it, what confines it, and the parent's side of the talk."""
