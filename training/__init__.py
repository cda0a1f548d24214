"""What the library learns and is tried from: papers of our own, and the scripts that use them."""
