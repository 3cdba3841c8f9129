"""Figures: one function that draws, and a table of what it draws."""
