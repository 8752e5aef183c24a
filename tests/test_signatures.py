"""Options are read from signatures, through every constructor that hands them on."""

import pytest

from shiftstate.signatures import REQUIRED, constructor_options, current_options


class Base:
    def __init__(self, size, *, mixing="bank", bias=True):
        self.size, self.mixing, self.bias = size, mixing, bias


class Middle(Base):
    def __init__(self, size, *, gain=1.0, **options):
        super().__init__(size, **options)
        self.gain = gain


class Beside:
    """Not part of the line, without a constructor."""


class Child(Beside, Middle):
    def __init__(self, *sizes, mixing="dense", required, **options):
        super().__init__(*sizes, mixing=mixing, **options)
        self.required = required


class Closed(Middle):
    def __init__(self, size, gain=2.0):
        super().__init__(size, gain=gain)


def test_options_of_base_classes_come_first_and_the_nearest_default_counts():
    assert constructor_options(Base, ("size",)) == {"mixing": "bank", "bias": True}
    assert list(constructor_options(Middle, ("size",)).items()) == [("mixing", "bank"), ("bias", True), ("gain", 1.0)]
    found = constructor_options(Child, ("size",))
    assert list(found) == ["mixing", "bias", "gain", "required"]
    assert (found["mixing"], found["required"]) == ("dense", REQUIRED)


def test_a_constructor_that_hands_nothing_on_ends_the_line():
    assert constructor_options(Closed, ("size",)) == {"gain": 2.0}
    assert constructor_options(Closed) == {"size": REQUIRED, "gain": 2.0}


def test_a_class_without_a_constructor_of_its_own_has_that_of_its_base():
    assert constructor_options(type("Plain", (Middle,), {}), ("size",)) == constructor_options(Middle, ("size",))


def test_current_options_are_what_the_object_keeps():
    child = Child(3, required=1, gain=0.5)
    names = tuple(constructor_options(Child, ("size",)))
    assert current_options(child, names) == {"mixing": "dense", "bias": True, "gain": 0.5, "required": 1}
    del child.gain
    with pytest.raises(ValueError, match=r"^Child takes the option 'gain' and has no attribute of that name"):
        current_options(child, names)
