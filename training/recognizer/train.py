"""Fits the network to generated lines, and keeps it where it was right before."""

import functools
import math
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from queue import Empty
from time import monotonic
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from training.recognizer.lines import Batch

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

    from training.recognizer.network import Network

#: Makes the batches of a seed, without end.
Source = Callable[[int], Iterator[Batch]]

#: The steps in which the rate rises to the highest one.
_WARM_UP = 150
#: After this time without a batch, whether a process is left to make one is checked.
_PATIENCE_S = 5
#: The weight of staying with what the published network says of lines that it reads right.
_LOYALTY = 5.0
_MOST_GRADIENT = 2.0
#: The weights are averaged over this many steps.
_AVERAGED = 1000


@dataclass(frozen=True, slots=True)
class Plan:
    """How long and how fast to learn."""

    seconds: float
    rate: float = 2e-4
    device: str = "cpu"


@contextmanager
def batches(source: Source, workers: int) -> Iterator[Callable[[], Batch]]:
    """Generate batches in other processes; the function returns the next one."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue(4 * workers)
    processes = [
        context.Process(target=_generate, args=(source, seed, queue), daemon=True)
        for seed in range(workers)
    ]
    for process in processes:
        process.start()
    try:
        yield functools.partial(_next, queue, processes)
    finally:
        for process in processes:
            process.terminate()


def _next(queue: "Queue[Batch]", processes: Sequence[BaseProcess]) -> Batch:
    """Wait for a batch; raises RuntimeError if no process is left to make one."""
    while True:
        try:
            return queue.get(timeout=_PATIENCE_S)
        except Empty:
            if not any(process.is_alive() for process in processes):
                raise RuntimeError("No process generates lines any more; see above.") from None


def _generate(source: Source, seed: int, queue: "Queue[Batch]") -> None:
    for batch in source(seed):
        queue.put(batch)


def fit(
    network: "Network", published: "Network", following: Callable[[], Batch], plan: Plan
) -> dict[str, torch.Tensor]:
    """Train for the time of the plan, and return the average of the last weights by name.

    The loss of a line is that of its text (connectionist temporal classification). For lines that
    the published network reads right, the divergence from its probabilities is added, so that
    nothing is forgotten. It is the only loss of lines in scripts that the network does not know.
    """
    learner = _Learner(network.to(plan.device), published.to(plan.device), plan)
    start = monotonic()
    while (spent := (monotonic() - start) / plan.seconds) < 1:
        learner.step(following(), spent)
    return learner.averages


class _Learner:
    """The state of training."""

    def __init__(self, network: "Network", published: "Network", plan: Plan) -> None:
        self._network, self._published, self._plan = network, published.eval(), plan
        self._classes = {text: number for number, text in enumerate(network.characters)}
        self._optimizer = torch.optim.AdamW(
            network.parameters(), lr=plan.rate, betas=(0.9, 0.98), weight_decay=0
        )
        self._steps = 0
        self.averages = {name: weights.clone() for name, weights in network.weights().items()}

    def step(self, batch: Batch, spent: float) -> None:
        """Learn from a batch, when this share of the time is spent."""
        self._steps += 1
        rate = (
            self._plan.rate * min(1, self._steps / _WARM_UP) * (1 + math.cos(math.pi * spent)) / 2
        )
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        loss = self._loss(batch)
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), _MOST_GRADIENT)
        self._optimizer.step()
        kept = min(1 - 1 / _AVERAGED, self._steps / (self._steps + 20))
        for name, weights in self._network.weights().items():
            self.averages[name].lerp_(weights, 1 - kept)
        if self._steps % 50 == 1:
            print(f"{spent:4.0%}  step {self._steps}  loss {loss.item():.4f}", flush=True)

    def _loss(self, batch: Batch) -> torch.Tensor:
        pictures = torch.from_numpy(batch.pictures).to(self._plan.device)
        inputs = (pictures.float() / 127.5 - 1).permute(0, 3, 1, 2).contiguous()
        with torch.autocast(self._plan.device, torch.bfloat16, self._plan.device != "cpu"):
            logits = self._network(inputs).float()
            with torch.no_grad():
                before = self._published(inputs).float()
        own = logits.log_softmax(2)
        missed = self._missed(own, [text or "" for text in batch.texts])
        known = torch.tensor([text is not None for text in batch.texts], device=own.device)
        stays = ~known | self._right(before, batch.texts)
        expected = before.log_softmax(2)
        moved = (expected.exp() * (expected - own)).sum(2).mean(1)
        return _mean(missed, known) + _LOYALTY * _mean(moved, stays)

    def _missed(self, own: torch.Tensor, texts: Sequence[str]) -> torch.Tensor:
        """Return the loss of each line, for each letter of its text."""
        classes = [self._classes[letter] for text in texts for letter in text]
        lengths = torch.tensor([len(text) for text in texts])
        losses = functional.ctc_loss(
            own.transpose(0, 1),
            torch.tensor(classes, device=own.device),
            torch.full((len(texts),), own.shape[1]),
            lengths,
            reduction="none",
            zero_infinity=True,
        )
        return losses / lengths.clamp(min=1).to(own.device)

    def _right(self, logits: torch.Tensor, texts: Sequence[str | None]) -> torch.Tensor:
        """Return which lines are read as their texts."""
        wanted = [[self._classes[letter] for letter in text or ""] for text in texts]
        right = [text == read for text, read in zip(wanted, _read(logits), strict=True)]
        return torch.tensor(right, device=logits.device)


def _mean(losses: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """Return the mean of the losses that count."""
    return (losses * counts).sum() / counts.sum().clamp(min=1)


def _read(logits: torch.Tensor) -> Iterator[Sequence[int]]:
    """Yield the classes of each line, without blanks and repetitions."""
    for places in logits.argmax(2).tolist():
        pairs = zip([0, *places[:-1]], places, strict=True)
        yield [place for before, place in pairs if place not in {0, before}]
