"""Files to arrays: joins by name, missing values, splits."""
