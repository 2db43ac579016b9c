"""Adapters for frameworks. They import none of them: they know the shapes of their tools."""

from ._not_executed import NotExecuted, not_executed

__all__ = ["NotExecuted", "not_executed"]
