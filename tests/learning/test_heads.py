"""A generator with several heads: its gates are probabilities, and what is expected over heads is exact."""

from typing import Any

import numpy as np
import pytest

from sfumato.errors import InputError
from sfumato.learning import BayesVulnerability, Training, grid_error, learn_generator
from sfumato_papers.mipan import square_data

HEADS, SEEDS, WIDTH = 3, 2, 8


def network(torch, heads=HEADS):
    """A small network whose gates differ from value to value."""
    from sfumato.learning.neural_game import Obfuscator, seed_module

    made: Any = seed_module(lambda: Obfuscator(SEEDS, WIDTH, heads), 5, torch.device("cpu"))
    if heads > 1:
        source = torch.Generator().manual_seed(6)
        with torch.no_grad():
            made.blur.fill_(0.1)
            for parameter in made.gates[-1].parameters():
                parameter.copy_(4 * torch.rand(parameter.shape, generator=source) - 2)
    return made


def values_of(torch, size):
    return torch.as_tensor(np.random.default_rng(1).normal(size=(size, 2)), dtype=torch.float32)


def test_one_head_is_the_network_of_the_paper(torch):
    made = network(torch, heads=1)
    values, seeds = values_of(torch, 40), torch.rand(40, SEEDS, generator=torch.Generator().manual_seed(2))
    found = {name: tensor.double().numpy() for name, tensor in made.state_dict().items()}
    assert set(found) == {f"layers.{i}.{part}" for i in (0, 2, 4) for part in ("weight", "bias")}
    angle = 2 * np.pi * seeds.double().numpy()[:, 0]
    hidden = np.column_stack(
        [values.double().numpy(), np.cos(angle), np.sin(angle), 2 * seeds.double().numpy()[:, 1] - 1]
    )
    for i in (0, 2, 4):
        hidden = np.maximum(hidden, 0) if i else hidden
        hidden = hidden @ found[f"layers.{i}.weight"].T + found[f"layers.{i}.bias"]
    with torch.no_grad():
        reports = made(values, seeds).double().numpy()
    np.testing.assert_allclose(reports, values.double().numpy() + hidden, atol=1e-5)


def test_the_first_seed_picks_heads_as_often_as_the_gates_say(torch):
    made, steps = network(torch), 5000
    for value in values_of(torch, 5):
        values = value.repeat(steps, 1)
        seeds = torch.full((steps, made.inputs), 0.3)
        seeds[:, 0] = (torch.arange(steps) + 0.5) / steps
        with torch.no_grad():
            reports = made(values, seeds)
            answers, gates = made.answers(values[:1], seeds[:1])
        assert gates.sum().item() == pytest.approx(1.0, abs=1e-6)
        assert gates.max() - gates.min() > 0.01
        picked = (reports[:, None] - answers).norm(dim=2)
        assert picked.min(dim=1).values.max() < 1e-5
        often = np.bincount(picked.argmin(1).numpy(), minlength=HEADS) / steps
        np.testing.assert_allclose(often, gates[0].numpy(), atol=2 / steps)


def test_weighted_heads_have_the_loss_and_the_shares_of_drawn_ones(torch):
    from sfumato.learning.neural_game import shares_of

    made, many = network(torch), 40_000
    values = values_of(torch, 4).repeat(many, 1)
    labels = torch.tensor([0, 1, 1, 3]).repeat(many)
    seeds = torch.rand(len(values), made.inputs, generator=torch.Generator().manual_seed(4))
    with torch.no_grad():
        answers, gates = made.answers(values, seeds)
        expected = ((answers - values[:, None]).norm(dim=2) * gates).sum(1).double()
        drawn = (made(values, seeds) - values).norm(dim=1).double()
    apart = (drawn - expected).numpy()
    assert abs(apart.mean()) < 4 * apart.std() / len(apart) ** 0.5
    assert expected.var() < drawn.var()

    shares = shares_of(labels, 5, gates).double()
    assert shares.shape == (5, HEADS * len(values))
    np.testing.assert_allclose(shares.sum(1), [0.25, 0.5, 0.0, 0.25, 0.0], atol=1e-4)
    np.testing.assert_allclose(shares.reshape(5, -1, HEADS).sum(1)[3], gates[3].numpy() / 4, atol=1e-4)
    side_by_side = shares.sum(0).reshape(-1, HEADS) * len(values)
    np.testing.assert_allclose(side_by_side.float(), gates, rtol=1e-4)


def test_the_gradient_of_the_gates_is_that_of_the_expected_loss(torch):
    made = network(torch)
    values, seeds = values_of(torch, 30), torch.rand(30, made.inputs, generator=torch.Generator().manual_seed(3))
    answers, gates = made.answers(values, seeds)
    apart = (answers - values[:, None]).norm(dim=2).detach()
    torch.autograd.backward((apart * gates).sum(1).mean())
    # The derivative of a mean by a logit of its softmax: p_k (d_k - mean of d), summed over records.
    expected = (gates * (apart - (apart * gates).sum(1, keepdim=True))).mean(0)
    np.testing.assert_allclose(made.gates[-1].bias.grad, expected.detach(), atol=1e-6)


@pytest.mark.parametrize("heads", [1, 3])
def test_it_starts_as_planar_laplace_noise_with_any_number_of_heads(torch, heads):
    train, _ = square_data(100, seed=1)
    training = Training(
        heads=heads,
        width=48,
        start_steps=400,
        attack_steps=1,
        generator_steps=1,
        generator_batch=256,
        blur=0.0,
    )
    found = learn_generator(train, None, start_epsilon="10/km", rounds=1, seed=1, device="cpu", training=training)
    assert found.heads == heads
    places = np.tile(train.points, (20, 1))
    apart = np.linalg.norm(found.draw(places, seed=2) - places, axis=1)
    assert (apart < 1e-3).mean() == pytest.approx(0.1 if heads > 1 else 0.0, abs=0.01)
    # Quartiles of the Gamma law of shape 2, where 1 - (1 + r) exp(-r) is 1/4, 1/2 and 3/4, in units of 100 m.
    for radius, share in ((96.13, 0.25), (167.83, 0.5), (269.26, 0.75)):
        assert 1 - (1 + radius / 100) * np.exp(-radius / 100) == pytest.approx(share, abs=1e-4)
        assert (apart <= radius).mean() == pytest.approx(share, abs=0.05)


def test_the_first_head_stays_and_the_others_are_blurred(torch):
    made, many = network(torch), 50_000
    values = values_of(torch, 1).repeat(many, 1)
    seeds = torch.rand(many, made.inputs, generator=torch.Generator().manual_seed(8))
    seeds[:, 1:-2] = 0.3
    with torch.no_grad():
        answers, _ = made.answers(values, seeds)
        made.blur.fill_(0.0)
        sharp, _ = made.answers(values[:1], seeds[:1])
    assert torch.equal(answers[:, 0], values)
    apart = (answers - sharp)[:, 1:].double().numpy()
    for head in range(HEADS - 1):
        # A Gaussian of 0.1 in both directions: its mean, its covariance, and the law of its radius.
        np.testing.assert_allclose(apart[:, head].mean(0), 0.0, atol=0.002)
        np.testing.assert_allclose(np.cov(apart[:, head].T), 0.01 * np.eye(2), atol=3e-4)
        inside = (np.linalg.norm(apart[:, head], axis=1) < 0.1).mean()
        assert inside == pytest.approx(1 - np.exp(-0.5), abs=0.01)


def test_heads_must_be_at_least_one():
    with pytest.raises(InputError, match="positive"):
        Training(heads=0)


@pytest.mark.slow
def test_heads_near_the_optimum_of_experiment_2(torch):
    """One network reaches .48 of .633 there: it moves everybody part of the way."""
    train, test = square_data(600, seed=3)
    learned = learn_generator(
        train,
        "173 m",
        target=BayesVulnerability(),
        rounds=60,
        margin=0.005,
        judging=0.4,
        tolerance=None,
        patience=60,
        failure=0.5,
        seed=3,
        device="cpu",
        training=Training(generator_steps=20),
    )
    assert learned.within_max_loss
    assert learned.best == 60
    for data in (train, test):
        loss, error = learned.loss(data, seed=1)
        assert loss - 2 * error <= 173
        # Of all such places .635 at most (C.8). Seeds 3 to 5 reach .573 to .581: training differs by machine.
        error = grid_error(learned.reports(data, 100, seed=2), 50.0, even=True).plug_in
        assert 0.56 <= error <= 0.636
    # Like the optimum it keeps some where they are, and more than the tenth that it starts with.
    places = np.repeat(train.points, 20, axis=0)
    stays = np.linalg.norm(learned.draw(places, seed=4) - places, axis=1) < 1e-3
    assert 0.13 < stays.mean() < 0.5
