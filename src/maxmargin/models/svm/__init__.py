"""LinearSVM, for two classes and k."""
