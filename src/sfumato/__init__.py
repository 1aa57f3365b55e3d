"""sfumato: local obfuscation mechanisms, designed, proved, attacked and applied.

The public names and the modules that they come from are listed in `__init__.pyi` alone. Type checkers
read it, and so does `lazy_loader`: each name is imported when it is first used, so that
`import sfumato` and `sfumato --help` stay fast.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
