"""The REST routes, one module per thing."""
