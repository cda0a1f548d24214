"""Fits how sure a reading is: see README.md."""
