"""KernelSVM and kernel ridge regression."""
