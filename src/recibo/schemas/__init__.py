"""Types that several layers share: actors, states, ids and JSON models."""
