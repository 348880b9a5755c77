"""Keep of benchopt's results what the page needs: ``python benchmark_s3vm/reduce.py NAME.parquet ... [--csv FILE]``.

The rows of all files go into a file, by default the ``results/results.csv`` that the page is made of: data, objective,
solver, and what the judge said.
"""

import argparse
import re
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent
CSV = HERE / "results" / "results.csv"

#: Columns that are kept, by the name that benchopt gives them.
KEPT = {
    "time": "seconds",
    "objective_value": "value",
    "objective_returned_value": "returned_value",
    "objective_violation": "violation",
    "objective_lower_bound": "lower_bound",
    "objective_claimed_bound": "claimed_bound",
    "objective_error": "error",
}

#: Options of solvers that the run of the convex problem varies.
VARIED = ("solver", "tol", "intercept_scaling")


def solver_of(row):
    """A short name: what tells one solver from another, and no default that all share."""
    name, _, options = row["solver_name"].partition("[")
    given = dict(part.split("=", 1) for part in options.rstrip("]").split(",") if part)
    name = given.pop("method") if name in ("descent", "labels") else name
    steps = given.pop("annealing", "None")
    varied = VARIED if row["p_obj_formulation"] == "svm" else ()
    told = [f"{key}={value}" for key, value in given.items() if key in varied]
    if steps != "None":
        told.insert(0, f"{steps} steps")
    return f"{name} ({', '.join(told)})" if told else name


def reduced(frame):
    """The rows of one file."""
    short = frame["dataset_name"].map(lambda name: re.sub(r",?(noise|seed|size|split)=[^,\]]*", "", name))
    out = pd.DataFrame(
        {
            "data": short.str.replace("[,", "[", regex=False).str.replace("[]", "", regex=False),
            "formulation": frame["p_obj_formulation"],
            "loss": frame["p_obj_loss"],
            "kernel": frame["p_obj_sigma"].map({"linear": "linear", "scale": "rbf"}),
            "solver": frame.apply(solver_of, axis=1),
            "draw": frame["p_dataset_seed"].fillna(0).astype(int) if "p_dataset_seed" in frame else 0,
            "repetition": frame["idx_rep"],
            "point": frame["stop_val"],
        }
    )
    return out.assign(**{name: frame[old] for old, name in KEPT.items()})


def main():
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="+", help="benchopt's files")
    parser.add_argument("--csv", type=Path, default=CSV, help="the file to write")
    options = parser.parse_args()
    rows = pd.concat([reduced(pd.read_parquet(path)) for path in options.results], ignore_index=True)
    options.csv.parent.mkdir(exist_ok=True)
    rows.to_csv(options.csv, index=False, float_format="%.8g")
    print(f"{len(rows)} rows, {options.csv.stat().st_size / 1000:.0f} kB in {options.csv}")


if __name__ == "__main__":
    main()
