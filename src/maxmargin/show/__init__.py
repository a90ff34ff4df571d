"""Views: pictures as plain arrays, computed once, drawn by matplotlib, Bokeh or as SVG."""
