"""Chooses one value per field from the candidates, and computes confidences."""
