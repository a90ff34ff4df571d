"""The optimum of a hinge problem between two rationals, found in many digits.

Mehrotra's interior point method in ``decimal`` arithmetic of 100 digits on

    min ½‖W‖² + Σ c_g ξ_g   with   v_p·(W, b) + ξ_g ≥ 1,  ξ_g ≥ 0       (squares: Σ c_g ξ_g²)

Nothing that it finds is believed: its (W, b) gives an upper bound of the optimum and its
multipliers, made feasible, a lower one, both summed up exactly in ``hinge``.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction

from . import hinge
from .hinge import HingeProblem, expanded, explicit, primal
from .intervals import high

DIGITS = 100
MOST_STEPS = 150
# The gap, relative to the objective, at which the method stops.
ENOUGH_GAP = Decimal("1e-35")
CONTEXT = Context(prec=DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN)
ZERO, ONE = Decimal(0), Decimal(1)
# Of the way to the nearest bound, so much is gone.
BOUNDARY_STEP_SHARE = Decimal("0.99")


def enclose(problem: HingeProblem) -> tuple[Fraction, Fraction | None]:
    """Lower and upper bound of the optimum; None: no feasible point was found."""
    with localcontext(CONTEXT):
        x, gamma = _interior_point(problem)
    multipliers, point = [Fraction(g) for g in gamma], [Fraction(each) for each in x]
    lower = hinge.bound(problem, multipliers)
    if problem.gram is None:
        W, b = _unpack(problem, point, len(problem.rows[0]))
        upper = primal(problem, explicit(problem, W), b)
    else:
        _, b = _unpack(problem, point, problem.n)
        upper = primal(problem, expanded(problem, hinge.combined(problem, multipliers)), b)
    return lower, None if upper is None else high(upper)


def _unpack(problem: HingeProblem, x: list[Fraction], d: int):
    """W by class, and b with that of class 0 at zero."""
    W = {c: x[j * d : (j + 1) * d] for j, c in enumerate(problem.blocks)}
    rest = x[len(W) * d :]
    return W, [Fraction(0), *rest] if problem.free_bias else [Fraction(0)] * problem.k


def _features(problem: HingeProblem) -> list[list[Decimal]]:
    """The rows in decimals; under a kernel those of a Cholesky factor of the Gram matrix."""
    if problem.gram is None:
        return [[decimal(each) for each in row] for row in problem.rows]
    n = problem.n
    K = [[decimal((hinge.low(each) + high(each)) / 2) for each in row] for row in problem.gram]
    L = [[ZERO] * n for _ in range(n)]
    for j in range(n):
        pivot = K[j][j] - sum(each * each for each in L[j][:j])
        if pivot <= K[j][j] * Decimal("1e-45"):
            continue  # a row that the others span
        L[j][j] = pivot.sqrt()
        for i in range(j + 1, n):
            L[i][j] = (K[i][j] - product(L[i][:j], L[j][:j])) / L[j][j]
    return L


def decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def product(u, v) -> Decimal:
    return sum(map(Decimal.__mul__, u, v), ZERO)


def solve(A: list[list[Decimal]], rhs: list[Decimal]) -> list[Decimal]:
    """A⁻¹ r of a positive definite matrix, by Cholesky; directions without curvature get zero."""
    n = len(A)
    L: list[list[Decimal]] = []
    for i in range(n):
        row: list[Decimal] = []
        for j in range(i):
            pivot = L[j][j]
            row.append((A[i][j] - product(row, L[j][:j])) / pivot if pivot else ZERO)
        pivot = A[i][i] - product(row, row)
        row.append(pivot.sqrt() if pivot > A[i][i].copy_abs() * Decimal("1e-90") else ZERO)
        L.append(row)
    y: list[Decimal] = []
    for i in range(n):
        y.append((rhs[i] - product(L[i][:i], y)) / L[i][i] if L[i][i] else ZERO)
    x = [ZERO] * n
    for i in reversed(range(n)):
        total = y[i] - sum((L[j][i] * x[j] for j in range(i + 1, n)), ZERO)
        x[i] = total / L[i][i] if L[i][i] else ZERO
    return x


def _directions(problem: HingeProblem) -> tuple[list[list[Decimal]], int]:
    """v_p of every demand: what it asks of (W, b), and how many of the entries are weights."""
    rows = _features(problem)
    d, blocks = len(rows[0]), list(problem.blocks)
    weights, biases = d * len(blocks), problem.k - 1 if problem.free_bias else 0
    found = []
    for demand in problem.demands:
        v = [ZERO] * (weights + biases)
        for c, sign in ((demand.win, ONE), (demand.lose, -ONE)):
            if c in problem.blocks:
                at = blocks.index(c) * d
                v[at : at + d] = [sign * each for each in rows[demand.row]]
            if c and biases:
                v[weights + c - 1] = sign
        found.append(v)
    return found, weights


class InteriorPoint:
    """Slacks s_p of the demands with multipliers γ_p, and ξ_g of the groups with η_g.

    Products sγ and ξη are led to zero together; x = (W, b).  Squares have no η, for there
    ξ_g = Σγ/2c_g, and a hard margin has no ξ.
    """

    def __init__(self, problem: HingeProblem):
        self.V, self.weights = _directions(problem)
        self.groups = [g for g, c in enumerate(problem.cost) if c is None or c > 0]
        self.members = {g: problem.members[g] for g in self.groups}
        self.live = [p for g in self.groups for p in self.members[g]]
        self.group = {p: problem.demands[p].group for p in self.live}
        self.places = {p: [j for j, v in enumerate(self.V[p]) if v] for p in self.live}
        self.hard, self.squared = problem.hard, problem.squared
        self.cost = {g: ONE if self.hard else decimal(problem.cost[g]) for g in self.groups}
        self.capped = [] if self.hard or self.squared else self.groups
        self.x = [ZERO] * len(self.V[0])
        self.s = dict.fromkeys(self.live, ONE)
        self.xi = dict.fromkeys(self.groups, ZERO if self.hard else 2 * ONE)
        self.gamma = {p: self._share(self.group[p]) for p in self.live}
        self.eta = {g: self.cost[g] / 2 for g in self.capped}

    def _share(self, g: int) -> Decimal:
        return ONE if self.hard else self.cost[g] / (2 * len(self.members[g]))

    def run(self) -> None:
        for _ in range(MOST_STEPS):
            self.look()
            if self.done():
                return
            self.assemble()
            target, corrections = self.predict()
            steps = self.step(target, *corrections)
            self.move(min(self.longest(steps, BOUNDARY_STEP_SHARE)), steps)

    def look(self) -> None:
        """The mean product μ, and how far every demand is from its slack."""
        s, xi = self.s, self.xi
        total = sum((s[p] * self.gamma[p] for p in self.live), ZERO)
        total += sum((xi[g] * self.eta[g] for g in self.capped), ZERO)
        self.mu = total / (len(self.live) + len(self.capped))
        self.reach = {
            p: product(self.V[p], self.x) + xi[self.group[p]] - ONE - s[p] for p in self.live
        }

    def done(self) -> bool:
        size = product(self.x[: self.weights], self.x[: self.weights]) / 2
        for g in self.groups:
            size += self.cost[g] * self.xi[g] ** (2 if self.squared else 1)
        far = max(abs(each) for each in self.reach.values())
        return self.mu * len(self.live) < ENOUGH_GAP * size and far < ENOUGH_GAP

    def assemble(self) -> None:
        """H = [I 0; 0 0] + Σ θ v vᵀ − Σ_g κφ (Σθv)(Σθv)ᵀ, the lower half; θ = γ/s."""
        n = len(self.x)
        H = [[ZERO] * n for _ in range(n)]
        for i in range(self.weights):
            H[i][i] = ONE
        self.H, self.theta = H, {p: self.gamma[p] / self.s[p] for p in self.live}
        self.phi, self.kappa, self.pull = {}, {}, {}
        for g in self.groups:
            pull = [ZERO] * n
            for p in self.members[g]:
                _add_outer(H, self.V[p], self.places[p], self.theta[p])
                for j in self.places[p]:
                    pull[j] += self.theta[p] * self.V[p][j]
            self.phi[g] = self._softness(g)
            self.kappa[g] = 1 / (1 + self.phi[g] * sum(self.theta[p] for p in self.members[g]))
            self.pull[g] = pull
            places = [j for j in range(n) if pull[j]]
            _add_outer(H, pull, places, -self.kappa[g] * self.phi[g])

    def _softness(self, g: int) -> Decimal:
        """φ: how much ξ_g yields to Σγ."""
        if self.hard:
            return ZERO
        return 1 / (2 * self.cost[g]) if self.squared else self.xi[g] / self.eta[g]

    def step(self, target: Decimal, s_gamma, xi_eta):
        """Newton's step towards sγ + s_gamma = ξη + xi_eta = target."""
        s, gamma, theta = self.s, self.gamma, self.theta
        wish = {p: (target - s_gamma[p]) / s[p] - gamma[p] for p in self.live}
        push = {p: wish[p] - theta[p] * self.reach[p] for p in self.live}
        yields = {g: self._yield(g, target, xi_eta, push) for g in self.groups}
        rhs = [-each for each in self.x[: self.weights]]
        rhs += [ZERO] * (len(self.x) - self.weights)
        for p in self.live:
            g = self.group[p]
            weight = gamma[p] + push[p] - theta[p] * self.kappa[g] * yields[g]
            for j in self.places[p]:
                rhs[j] += weight * self.V[p][j]
        dx = solve(self.H, rhs)
        dxi = {
            g: self.kappa[g] * (yields[g] - self.phi[g] * product(self.pull[g], dx))
            for g in self.groups
        }
        ds = {p: product(self.V[p], dx) + dxi[self.group[p]] + self.reach[p] for p in self.live}
        dgamma = {p: wish[p] - theta[p] * ds[p] for p in self.live}
        deta = {g: self._lacking(g) - sum(dgamma[p] for p in self.members[g]) for g in self.capped}
        return dx, ds, dxi, dgamma, deta

    def _lacking(self, g: int) -> Decimal:
        return self.cost[g] - self.eta[g] - sum(self.gamma[p] for p in self.members[g])

    def _yield(self, g: int, target: Decimal, xi_eta, push) -> Decimal:
        """What ξ_g would change by if W stood still, before the demands answer."""
        if self.hard:
            return ZERO
        phi, pushed = self.phi[g], sum(push[p] for p in self.members[g])
        if self.squared:
            return phi * (sum(self.gamma[p] for p in self.members[g]) + pushed) - self.xi[g]
        wish = (target - xi_eta[g]) / self.eta[g] - self.xi[g]
        return wish - phi * (self._lacking(g) - pushed)

    def predict(self):
        """Mehrotra's predictor: how low the products may be led, and what bends the way."""
        none = dict.fromkeys(self.live, ZERO), dict.fromkeys(self.capped, ZERO)
        steps = self.step(ZERO, *none)
        _, ds, dxi, dgamma, deta = steps
        t, u = self.longest(steps, ONE)
        after = sum((self.s[p] + t * ds[p]) * (self.gamma[p] + u * dgamma[p]) for p in self.live)
        after += sum((self.xi[g] + t * dxi[g]) * (self.eta[g] + u * deta[g]) for g in self.capped)
        mean = after / (len(self.live) + len(self.capped))
        corrections = (
            {p: ds[p] * dgamma[p] for p in self.live},
            {g: dxi[g] * deta[g] for g in self.capped},
        )
        return self.mu * (mean / self.mu) ** 3, corrections

    def longest(self, steps, share: Decimal) -> tuple[Decimal, Decimal]:
        """The longest steps, of slacks and of multipliers, that leave all of them positive."""
        _, ds, dxi, dgamma, deta = steps
        capped = {g: dxi[g] for g in self.capped}
        return (
            _longest(share, (self.s, ds), (self.xi, capped)),
            _longest(share, (self.gamma, dgamma), (self.eta, deta)),
        )

    def move(self, t: Decimal, steps) -> None:
        dx, ds, dxi, dgamma, deta = steps
        self.x = [a + t * b for a, b in zip(self.x, dx, strict=True)]
        pairs = (self.s, ds), (self.xi, dxi), (self.gamma, dgamma), (self.eta, deta)
        for values, changes in pairs:
            for key, change in changes.items():
                values[key] += t * change


def _longest(share: Decimal, *pairs) -> Decimal:
    limit = ONE
    for values, steps in pairs:
        for key, change in steps.items():
            if change < 0:
                limit = min(limit, -share * values[key] / change)
    return limit


def _add_outer(H, v, places: list[int], factor: Decimal) -> None:
    """H += factor · v vᵀ, the lower half."""
    if not factor:
        return
    for i in places:
        row, mine = H[i], factor * v[i]
        for j in places:
            if j > i:
                break
            row[j] += mine * v[j]


def _interior_point(problem: HingeProblem) -> tuple[list[Decimal], list[Decimal]]:
    """(W, b) and the multipliers."""
    method = InteriorPoint(problem)
    if method.live:
        method.run()
    return method.x, [method.gamma.get(p, ZERO) for p in range(len(problem.demands))]
