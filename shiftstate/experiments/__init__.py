"""The paper's experiments: presets, the sweep over realizations, the store of results, and what they say."""
