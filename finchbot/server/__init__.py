"""The web server: the boot shim, the guard in front of everything, and the API."""
