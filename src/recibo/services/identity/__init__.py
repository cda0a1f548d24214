"""Who may act: users, orgs, members, sessions, keys."""
