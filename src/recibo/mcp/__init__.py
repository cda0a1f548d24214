"""A server of the Model Context Protocol: receipts as tools for agents."""
