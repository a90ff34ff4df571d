"""The studio: a page on this machine to draw points, step perceptrons and fit files.

The server is stateless: a page sends its points and its method, and is answered with a scene,
numbers and a certificate.  What a page shows lives in the page and in its address.
"""
