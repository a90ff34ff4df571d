"""The linear estimators on Dask arrays and dataframes: parts on the workers of a cluster."""
