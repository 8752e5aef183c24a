"""The checks every room shares."""

import threading

import numpy as np
import pytest
import torch

import shiftstate as ss
from shiftstate.checks import check_device, check_finite, check_name, check_whole

NAN = torch.tensor([[0.0, 1.0], [float("nan"), 2.0]])


@pytest.mark.parametrize("value", [0, 3, np.int64(3), np.uint8(3), torch.tensor(3)])
def test_whole_numbers_of_any_kind_become_ints(value):
    assert type(check_whole("K", value, 0)) is int
    assert check_whole("K", value, 0) == int(value)


@pytest.mark.parametrize("value", [-1, 1.0, 2.5, "3", None, True, False, [1], np.float64(2), np.array([1, 2])])
def test_what_is_not_a_whole_number_is_refused(value):
    with pytest.raises(ValueError, match=r"^K is .*; expected a whole number of at least 0$"):
        check_whole("K", value, 0)


@pytest.mark.parametrize("value", [np.bool_(True), np.bool_(False)])
def test_a_bool_of_a_library_is_a_bool(value):
    with pytest.raises(ValueError, match=r"expected a whole number"):
        check_whole("K", value, 0)


def test_the_least_value_is_allowed_and_one_less_is_not():
    assert check_whole("N", 5, 5) == 5
    with pytest.raises(ValueError, match=r"^N is 4; expected a whole number of at least 5$"):
        check_whole("N", 4, 5)


def test_a_known_name_is_returned():
    assert check_name("mixing", "bank", ("bank", "dense")) == "bank"


@pytest.mark.parametrize(("name", "nearest"), [("bnak", "bank"), ("BANK", "bank"), ("desne", "dense")])
def test_an_unknown_name_is_refused_with_the_nearest_known_one(name, nearest):
    with pytest.raises(ValueError, match=rf"^unknown mixing '{name}'; .*'bank', 'dense'; did you mean '{nearest}'\?$"):
        check_name("mixing", name, ("bank", "dense"))


@pytest.mark.parametrize("name", ["xyz", "", 3, None, ["bank"]])
def test_a_name_like_no_other_is_refused_without_a_guess(name):
    with pytest.raises(ValueError, match=r"^unknown mixing .*; expected one of 'bank', 'dense'$"):
        check_name("mixing", name, ("bank", "dense"))


def test_nothing_is_read_unless_checking_is_on():
    check_finite(NAN)
    with ss.checking(False):
        check_finite(NAN)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_values_that_are_not_finite_are_counted_and_located(bad):
    x = torch.zeros(2, 3, 4)
    x[1, 0, 2] = x[1, 2, 3] = bad
    with ss.checking(), pytest.raises(ValueError, match=r"^x holds 2 values that are not finite \(.* \(1, 0, 2\)\)"):
        check_finite(x)
    x[1, 2, 3] = 0
    with (
        ss.checking(),
        pytest.raises(ValueError, match=r"^x holds 1 value that is not finite .*; did training diverge"),
    ):
        check_finite(x)


def test_checking_ends_with_its_context_even_after_an_error():
    with pytest.raises(ValueError, match=r"not finite"), ss.checking():
        check_finite(NAN)
    check_finite(NAN)


def test_contexts_nest():
    with ss.checking():
        with ss.checking(False):
            check_finite(NAN)
        with pytest.raises(ValueError, match=r"not finite"):
            check_finite(NAN)


def test_checking_in_one_thread_does_not_reach_another():
    errors = []

    def work():
        try:
            check_finite(NAN)
        except ValueError as error:
            errors.append(error)

    with ss.checking():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert errors == []


@pytest.mark.parametrize("layer", [ss.GCNN(2, 1, 1), ss.RSN(2, 1, 1), ss.LSSM(2, 1, 1)])
def test_layers_and_traces_refuse_nan_when_checking_is_on(layer):
    shift = ss.Shift.from_edges([[0, 1], [1, 0]])
    assert layer(NAN, shift).isnan().any() or isinstance(layer, ss.RSN | ss.LSSM)
    with ss.checking():
        for call in (layer, layer.trace):
            with pytest.raises(ValueError, match=r"x holds 1 value that is not finite \(the first at index \(1, 0\)\)"):
                call(NAN, shift)


def test_the_check_is_skipped_while_compiling():
    shift = ss.Shift.from_edges([[0, 1], [1, 0]])
    layer = ss.GCNN(2, 1, 1)
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    with ss.checking():
        assert compiled(NAN, shift).isnan().any()


@pytest.mark.parametrize("wrong", ["gpu9", "float32", "", None, 1.5, torch.float32, "cpu:x", [1]])
def test_what_is_no_device_is_refused_in_one_line(wrong):
    with pytest.raises(
        ValueError, match=r"^where is .*; expected a device that torch has here, such as 'cpu' \("
    ) as caught:
        check_device("where", wrong)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"^device is 'cuda:0'; expected a device that torch has here"):
        check_device("device", "cuda:0")


def test_a_device_is_returned_as_torch_knows_it():
    assert check_device("device", "cpu") == torch.device("cpu")
    assert check_device("device", torch.device("meta")).type == "meta"
