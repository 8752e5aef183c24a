"""The numbers of the paper's Tables 1 and 2; it gives none for its Figure 1."""

from shiftstate.machine.trial import Cell

PAPER_AUTHORS = ("austen", "bronte_charlotte", "poe")

PUBLISHED: dict[Cell, tuple[float, float]] = {
    **{
        Cell.of("table2", filter=name, K=32, L=1, author=author): value
        for name, values in {
            "gcnn": ((0.64, 0.20), (0.71, 0.16), (0.64, 0.18)),
            "rsn": ((0.80, 0.19), (0.68, 0.16), (0.72, 0.19)),
            "lssm": ((0.87, 0.14), (0.73, 0.15), (0.83, 0.14)),
        }.items()
        for author, value in zip(PAPER_AUTHORS, values, strict=True)
    },
    **{
        Cell.of("table1", filter=name, K=4, L=L, author=None): value
        for (name, L), value in {
            ("gcnn", 2): (0.49, 0.05),
            ("gcnn", 4): (0.40, 0.17),
            ("rsn", 2): (0.62, 0.05),
            ("rsn", 4): (0.53, 0.12),
            ("lssm", 2): (0.62, 0.03),
            ("lssm", 4): (0.60, 0.16),
        }.items()
    },
}
"""Mean and standard deviation, by cell."""
