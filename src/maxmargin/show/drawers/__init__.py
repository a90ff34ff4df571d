"""Scenes drawn: as SVG, by matplotlib, by Bokeh."""
