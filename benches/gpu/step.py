"""Training steps of R3D-18, fed by the loader's threads, by the device, and by one batch again and again."""
import itertools
import time

import decoders
import torch
from speed import wait


def feeds(dataset, options, device):
    same = next(decoders.by_kernels(dataset, options, device))
    return {
        "loader's threads": decoders.by_threads(dataset, options, device),
        "loader's device": decoders.by_kernels(dataset, options, device),
        "one batch again and again": itertools.repeat(same),
    }


def steps(dataset, options, device, rounds, count):
    """Steps a second of each feed, in turn, one value a round."""
    from torchvision.models.video import r3d_18

    model = r3d_18(num_classes=8).to(device).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    given = feeds(dataset, options, device)

    def step(batch):
        labels = torch.zeros(len(batch.frames), dtype=torch.long, device=device)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
            loss = torch.nn.functional.cross_entropy(model(batch.frames.transpose(1, 2)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    found = {name: [] for name in given}
    for _ in range(rounds):
        for name, batches in given.items():
            step(next(batches))
            wait(device)
            started = time.perf_counter()
            for batch in itertools.islice(batches, count):
                step(batch)
            wait(device)
            found[name].append(count / (time.perf_counter() - started))
    return found
