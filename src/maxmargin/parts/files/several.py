"""Several files of the same columns, read as one table: one below the other."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from .form import FileForm
from .source import ReadCallback, find_source
from .training import Labelled, form_of, label_table, likely, with_labels


def read_several(
    paths: Sequence[str], target: str | None, weights: str | None, format: str | FileForm | None,
    on_read: ReadCallback | None = None,
) -> Labelled:  # fmt: skip
    """Training data from all of them; a column need not be at the same place in each."""
    sources = [find_source(path, format, on_read) for path in paths]
    for source in sources:
        if not source.is_table:
            raise ValueError(
                f"{source.name} is a matrix; of several files each must be a table. Stack the "
                "matrices, or fit them one by one."
            )
    tables = [with_labels(source, lambda names: likely(names, target)) for source in sources]
    first, names = tables[0], [source.name for source in sources]
    for name, table in zip(names[1:], tables[1:], strict=True):
        check_same(first.schema.names, table.schema.names, names[0], name)
    whole = stacked([table.select(first.schema.names) for table in tables])
    data = label_table(whole, target, weights, f"{names[0]} and {len(names) - 1} more")
    said = [f"{s.name}: {text}" for s in sources for text in s.sentences]
    counts = ", ".join(f"{n}: {t.num_rows:,}" for n, t in zip(names, tables, strict=True))
    data.notes = [f"rows of {len(names)} files one below the other ({counts})", *said, *data.notes]
    data.form = form_of(sources[0])
    return data


def check_same(first: list[str], other: list[str], one: str, another: str) -> None:
    """Refuse files that do not have the same columns, naming what differs."""
    lacking, extra = [n for n in first if n not in other], [n for n in other if n not in first]
    if lacking or extra:
        parts = [f"lacks {', '.join(lacking[:5])}"] if lacking else []
        parts += [f"has {', '.join(extra[:5])} besides"] if extra else []
        raise ValueError(
            f"Files that are fitted together must have the same columns: {another} "
            f"{' and '.join(parts)}, other than {one}."
        )


def stacked(tables: list[pa.Table]) -> pa.Table:
    """One below the other; a column that is numbers here and words there is words, which may turn
    out to be numbers with some exceptions."""
    schema = tables[0].schema
    for place, name in enumerate(schema.names):
        kinds = {table.schema.field(name).type for table in tables}
        if len(kinds) > 1 and any(pa.types.is_string(kind) for kind in kinds):
            tables = [
                table.set_column(place, name, table.column(name).cast(pa.string()))
                for table in tables
            ]
    return pa.concat_tables(tables, promote_options="permissive").combine_chunks()
