"""Where scikit-learn's code is replaced: now if a module is imported, else right after it is.

Only functions and methods are exchanged, never classes, so ``isinstance``, ``clone`` and pickles
know of nothing.  A finder at the head of ``sys.meta_path`` sees the import of the modules named
below; importing anything on a program's behalf would cost it time.
"""

from __future__ import annotations

import sys
from collections import namedtuple
from importlib import import_module

from .settings import SETTINGS

TYPE_CHECKING = False  # as in typing, which takes longer to import than all of this
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any


# ``name`` (maybe ``Class.method``) in a module of scikit-learn; and the file here with the
# function ``wrapper`` of the original that returns its replacement.
Patch = namedtuple("Patch", "module name file wrapper", defaults=["wrap"])


_LDA = "sklearn.discriminant_analysis"
PATCHES = (
    Patch("sklearn.svm._classes", "_fit_liblinear", "linear_svc"),
    Patch("sklearn.svm._base", "BaseLibSVM._dense_fit", "svc"),
    Patch("sklearn.svm._base", "BaseLibSVM._sparse_fit", "svc"),
    Patch("sklearn.linear_model._logistic", "_logistic_regression_path", "logistic"),
    Patch("sklearn.linear_model._logistic", "_fit_liblinear", "logistic", "wrap_liblinear"),
    Patch("sklearn.linear_model._stochastic_gradient", "BaseSGDClassifier._fit", "perceptron"),
    Patch("sklearn.linear_model._ridge", "_BaseRidge.fit", "ridge"),
    Patch("sklearn.kernel_ridge", "_solve_cholesky_kernel", "kernel_ridge"),
    Patch(_LDA, "LinearDiscriminantAnalysis._solve_svd", "discriminant"),
    Patch(_LDA, "LinearDiscriminantAnalysis._solve_lstsq", "discriminant", "wrap_direct"),
    Patch(_LDA, "LinearDiscriminantAnalysis._solve_eigen", "discriminant", "wrap_direct"),
    Patch("sklearn.utils.parallel", "_FuncWrapper", "workers"),
)
WATCHED = {patch.module for patch in PATCHES}
# (holder, attribute) → what was there before
_originals: dict[tuple[Any, str], Any] = {}


def install(*, compare: bool = False, load: str = "when needed") -> None:
    """Let maxmargin solve inside scikit-learn from now on, in modules imported now or later.

    ``compare``: scikit-learn solves every fit as well, and its answer is judged in the report.
    ``load``: ``"now"`` loads the solvers at once, ``"when needed"`` when fits are large enough to
    earn it.  A second call changes these two and nothing else.
    """
    if load not in ("now", "when needed"):
        raise ValueError(f"load must be 'now' or 'when needed', got load={load!r}.")
    SETTINGS.compare, SETTINGS.eager = compare, load == "now"
    if installed():
        return
    sys.meta_path.insert(0, _FINDER)
    for name in sorted(WATCHED & set(sys.modules)):
        _patch_module(sys.modules[name])


def uninstall() -> None:
    """Put scikit-learn's own code back; fits that are running end as they began."""
    if installed():
        sys.meta_path.remove(_FINDER)
    while _originals:
        (holder, name), original = _originals.popitem()
        if original is _ABSENT:
            delattr(holder, name)
        else:
            setattr(holder, name, original)


def installed() -> bool:
    return _FINDER in sys.meta_path


def replace(holder: Any, name: str, value: Any) -> None:
    """Exchange an attribute until ``uninstall``."""
    _originals.setdefault((holder, name), vars(holder).get(name, _ABSENT))
    setattr(holder, name, value)


_ABSENT = object()


def _patch_module(module: ModuleType) -> None:
    """Exchange what is named in ``PATCHES``; a name that this version lacks is left out."""
    for patch in PATCHES:
        if patch.module != module.__name__:
            continue
        holder, name = _holder(module, patch.name)
        original = None if holder is None else vars(holder).get(name)
        if original is not None and (holder, name) not in _originals:
            wrap = getattr(import_module(f".{patch.file}", __package__), patch.wrapper)
            if (value := wrap(original)) is not original:
                replace(holder, name, value)


def _holder(module: ModuleType, dotted: str) -> tuple[Any, str]:
    """What has the attribute, a module or a class (None if there is none), and its last name."""
    *outer, name = dotted.split(".")
    return getattr(module, outer[0], None) if outer else module, name


class _Finder:
    """Finds nothing itself; patches the modules it watches once they have been executed."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname not in WATCHED:
            return None
        for finder in sys.meta_path:
            if finder is self:
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _PatchingLoader(spec.loader)  # type: ignore[assignment]
                return spec
        return None


class _PatchingLoader:
    """The loader found, and a patch when it is done; the module never sees it again."""

    def __init__(self, inner: Any):
        self.inner = inner

    def create_module(self, spec):
        return self.inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self.inner
        self.inner.exec_module(module)
        if installed():
            _patch_module(module)


_FINDER = _Finder()
