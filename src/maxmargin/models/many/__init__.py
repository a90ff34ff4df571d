"""Many fits that share their rows, and what comes back of them as arrays."""
