"""Every test starts from the same seed; Hypothesis draws the same examples in every run."""

import pytest
import torch
from hypothesis import settings

settings.register_profile("deterministic", derandomize=True, deadline=None, max_examples=40, print_blob=True)
settings.load_profile("deterministic")


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)
