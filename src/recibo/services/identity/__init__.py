"""Identity: users, orgs, members, sessions, keys."""
