"""What several floors speak: actors, states, ids and wire models."""
