"""Novels so small that Table 2 takes seconds: every author has habits, and a few books."""

import numpy as np

WORDS = ("the", "and", "of", "a", "in", "upon", "with", "but")


def write_novels(root, authors=("ann", "bob", "cid"), books=2, words=600):
    """Books of random words, a third of them function words by the author's own frequencies."""
    for number, author in enumerate(authors):
        generator = np.random.default_rng(number)
        habits = generator.dirichlet(np.full(len(WORDS), 0.7))
        (root / author).mkdir(parents=True)
        for book in range(books):
            pool = [*WORDS, "house", "sea"]
            chances = [*(0.6 * habits), 0.2, 0.2]
            text = generator.choice(pool, size=words, p=chances)
            sentences = [" ".join(text[start : start + 12]) for start in range(0, words, 12)]
            (root / author / f"book{book}.txt").write_text(". ".join(sentences))
    (root / "function_words.txt").write_text("\n".join(WORDS))
    return root
