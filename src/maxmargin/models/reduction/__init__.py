"""k classes as many questions of two: OneVsRest and OneVsOne."""
