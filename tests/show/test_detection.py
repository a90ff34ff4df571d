"""ROC and precision–recall curves against scikit-learn's."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from maxmargin.show.views.detection import detection_view


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("ties", [False, True])
def test_areas_are_those_of_scikit_learn(share, ties):
    rng = np.random.default_rng(0)
    codes = (rng.random(400) < share).astype(int)
    scores = codes + rng.standard_normal(400)
    scores = scores.round() if ties else scores
    view = detection_view(scores, codes, ["a", "b"], "cross-validation")
    rare = int(codes.mean() <= 0.5)
    assert view.label == "ab"[rare]
    positive, sure = codes == rare, scores if rare else -scores
    np.testing.assert_allclose(view.area, roc_auc_score(positive, sure), rtol=1e-12)
    np.testing.assert_allclose(view.average, average_precision_score(positive, sure), rtol=1e-12)
    said = (scores > 0).astype(int)
    recall = ((said == rare) & positive).sum() / positive.sum()
    np.testing.assert_allclose(view.here[0], recall)
    roc, precision = view.scene().scenes
    assert f"area {view.area:.3f}" in roc.title
    assert f"by chance {positive.mean():.1%}" in precision.words


def test_a_class_that_is_never_named_has_no_precision():
    view = detection_view(np.array([-2.0, -1.0, -3.0, -4.0]), np.array([0, 1, 0, 0]), "ab", "loo")
    assert view.here[0] == 0.0
    assert np.isnan(view.here[2])
    assert len(view.scene().scenes[1].marks[2].x) == 0
