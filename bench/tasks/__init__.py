"""The protocols: a module or small package per family."""
