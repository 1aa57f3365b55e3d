"""The commands, one file each: the function ``command`` is the command, and its docstring the help."""
