"""Frames a second, and processor time, of whoever makes batches."""
import time

import torch


def wait(device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def speed(batches, frames, device, seconds):
    """Frames a second and processor microseconds a frame, of all threads of this process, after a second of warming up."""
    run_for(min(seconds, 1), batches, device)
    cpu = time.process_time()
    count, elapsed = run_for(seconds, batches, device)
    return count * frames / elapsed, (time.process_time() - cpu) / (count * frames) * 1e6


def run_for(seconds, batches, device):
    wait(device)
    started, count = time.perf_counter(), 0
    while count < 2 or time.perf_counter() - started < seconds:
        next(batches)
        count += 1
    wait(device)
    return count, time.perf_counter() - started
