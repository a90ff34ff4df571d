"""Arrays become rows: dense and sparse storage behind the same verbs."""
