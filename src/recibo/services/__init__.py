"""Services: the business rules and their SQL, one module for each resource."""
