"""The extra pipelines: places pass through a pipeline of scikit-learn."""

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sfumato.releases.transformers import PlaceRandomizer

places = np.array([40.0, -30.0]) + 0.01 * np.random.default_rng(1).standard_normal((200, 2))
pipeline = make_pipeline(PlaceRandomizer("1/km", n_vertices=16, outside="nearest", allow=1.0), StandardScaler())
assert pipeline.fit_transform(places).shape == (200, 2)  # noqa: S101
