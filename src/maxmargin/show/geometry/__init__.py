"""Planes, regions and borders: what a picture of a classifier is made of."""
