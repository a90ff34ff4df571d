"""Arrays become rows: dense and sparse storage, pairs and grades, behind the same verbs."""
