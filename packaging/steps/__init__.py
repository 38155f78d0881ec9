"""The steps of packaging/build.py: one module for each kind of package."""
