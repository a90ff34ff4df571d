"""The perceptron's updates, passes and recorded runs."""
