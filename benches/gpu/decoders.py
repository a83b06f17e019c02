"""Who makes batches on a device: vidrec's kernels, its threads with a copy, and GPUs' decoders of whole JPEGs.

Each contestant is a function that takes a data set, options of a loader and a device, and gives batches without end. Those
with a decoder of their own get the loader's JPEGs, and `vidrec.torch.finish` crops and resizes what they decode.
"""
import sys
from pathlib import Path

import torch

import vidrec
import vidrec.torch

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def endless(loader):
    while True:
        yield from loader


def by_kernels(dataset, options, device):
    return endless(vidrec.Loader(dataset, device=device, **options))


def by_threads(dataset, options, device):
    pinned = {"pin_memory": True} if device.type == "cuda" else {}
    return (batch.to(device, non_blocking=True) for batch in endless(vidrec.Loader(dataset, **pinned, **options)))


def by_decoder(decoder):
    def batches(dataset, options, device):
        decode = decoder(device)
        loader = vidrec.Loader(dataset, output="jpeg", **options)
        return (vidrec.torch.finish(batch, decode(batch.jpegs)) for batch in endless(loader))

    return batches


def torchvision(device):
    from torchvision.io import ImageReadMode, decode_jpeg

    if device.type == "cuda":
        return lambda jpegs: decode_jpeg(list(jpegs), mode=ImageReadMode.RGB, device=device)
    return lambda jpegs: [decode_jpeg(jpeg, mode=ImageReadMode.RGB) for jpeg in jpegs]


def nvimagecodec(device):
    from nvidia import nvimgcodec

    of_gpu(device)
    decoder = nvimgcodec.Decoder(device_id=device.index or 0)
    # Its arrays are (height, width, 3) in memory of the GPU.
    return lambda jpegs: [
        torch.as_tensor(image, device=device).permute(2, 0, 1) for image in decoder.decode([bytes(j.numpy()) for j in jpegs])
    ]


def torchcodec(device):
    from torchcodec.decoders import decode_jpeg

    return lambda jpegs: decode_jpeg(list(jpegs), device=device)


def dali(dataset, options, device):
    """The pipeline of examples/dali_gpu.py, which makes only what W1 is."""
    sys.path.append(str(EXAMPLES))
    import dali_gpu

    of_gpu(device)
    if options.get("dtype") != "float32":
        raise NotImplementedError("the pipeline of examples/dali_gpu.py makes normalized float32")
    side = options["crop"].size if isinstance(options["crop"].size, int) else options["crop"].size[0]
    loader = vidrec.Loader(dataset, output="jpeg", **options)
    known = type("Known", (), dict(batch_size=options["batch_size"], size=side, device_id=device.index or 0))
    while True:
        yield from dali_gpu.epoch(loader, known)


def of_gpu(device):
    if device.type != "cuda":
        raise NotImplementedError("it needs a GPU")


CONTESTANTS = {
    "vidrec, device": by_kernels,
    "vidrec, threads and a copy": by_threads,
    "torchvision (nvJPEG)": by_decoder(torchvision),
    "nvImageCodec": by_decoder(nvimagecodec),
    "DALI, mixed": dali,
    "TorchCodec": by_decoder(torchcodec),
}
