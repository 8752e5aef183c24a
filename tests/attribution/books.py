"""Books of random words by authors with habits, small enough that training takes a second."""

import numpy as np

WORDS = ("the", "and", "of", "a", "in", "upon", "with", "but", "she", "he", "it", "was")


def book(author, number, words=1200):
    """Function words by the author's frequencies and by the author's habit of what follows what."""
    generator = np.random.default_rng([author, 0])
    habits = generator.dirichlet(np.full(len(WORDS), 2.0))
    follow = generator.dirichlet(np.full(len(WORDS), 0.5), size=len(WORDS))
    draw = np.random.default_rng([author, number + 1])
    text, last = [], 0
    for place in range(words):
        if draw.random() < 0.4:
            text.append(draw.choice(["house", "sea", "ship", "man", f"name{author}{number}"]))
        else:
            last = draw.choice(len(WORDS), p=0.7 * habits + 0.3 * follow[last])
            text.append(WORDS[last])
        if place % 11 == 10:
            text[-1] += "."
    return " ".join(text)


def write_books(root, authors=("ann", "bob", "cid"), books=3, words=1200):
    for author, name in enumerate(authors):
        (root / name).mkdir(parents=True)
        for number in range(books):
            (root / name / f"{name}{number}.txt").write_text(book(author, number, words))
    return root
