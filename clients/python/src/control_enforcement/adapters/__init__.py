"""Adapters for frameworks. They import none of them: they know the shapes of their objects."""

from ._refusal import ToolRefusal, refusal_of

__all__ = ["ToolRefusal", "refusal_of"]
