"""Reference adapters that ship with the bench, a package per family."""
