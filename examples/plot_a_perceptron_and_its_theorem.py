"""
A perceptron and its theorem
============================

However the points are ordered, a perceptron makes at most R²/γ² updates.
"""

from sklearn.datasets import load_iris

from maxmargin import PerceptronRunDisplay, UpdateCountsDisplay, mistake_bound

iris = load_iris(as_frame=True)
X = iris.data.loc[iris.target < 2, ["sepal width (cm)", "petal width (cm)"]]
y = iris.target_names[iris.target[iris.target < 2]]
limit = mistake_bound(X, y)
print(limit)
PerceptronRunDisplay.from_data(X, y, random_state=3)

# %%
# A hundred orders of the same flowers:

counts = UpdateCountsDisplay.from_data(X, y, runs=100).view.counts
print(f"from {counts.min()} to {counts.max()} updates; {limit.bound:.0f} are allowed")
assert counts.max() <= limit.bound
