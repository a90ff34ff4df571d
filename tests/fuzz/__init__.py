"""Altered input by the thousand: model files, tables, arguments and requests to the studio."""
