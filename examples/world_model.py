"""A world model in small: from the first pictures of two cameras, the actions and the sound after them, predict the last
pictures.

    python examples/world_model.py --data DIR [--epochs N]

It makes its own data: episodes in which a square moves as its actions say, the louder the faster, seen by two cameras.
Each sample is a window of an episode; windows overlap (``Windows``), and each comes with the actions and the
sound of exactly its time.
"""

import argparse
import json
import subprocess
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

import vidrec

EPISODES, RATE, FRAMES, SIDE, WINDOW = 6, 10, 24, 32, 6
SOUND_RATE = 8000
# Samples of sound that go with an action.
SOUND_STEP = SOUND_RATE // (2 * RATE)


def sound(actions: NDArray[np.float32]) -> NDArray[np.int16]:
    """A tone that is as loud as each action is fast."""
    loudness = np.abs(actions).sum(1).repeat(SOUND_STEP) * 4000
    heard: NDArray[np.int16] = (loudness * np.sin(np.arange(len(loudness)) * 440 * 2 * np.pi / SOUND_RATE)).astype(np.int16)
    return heard


def make(folder: Path) -> Path:
    """Packs episodes of two cameras, with two actions a frame time, unless they are there."""
    out = folder / "train"
    if (out / "dataset.json").exists():
        return out
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for episode in range(EPISODES):
        # Pixels to go right and down in each half of a frame's time.
        actions = np.random.default_rng(episode).integers(-2, 3, size=(2 * FRAMES, 2)).astype(np.float32)
        np.save(folder / f"{episode}.npy", actions)
        sound(actions).tofile(folder / f"{episode}.s16")
        places = np.cumsum(actions, axis=0)[1::2].astype(int) + SIDE // 2
        for camera in ("front", "wrist"):
            pictures = np.full((FRAMES, SIDE, SIDE), 30, np.uint8)
            for picture, (x, y) in zip(pictures, places % (SIDE - 8)):
                # The other camera is upside down.
                y = y if camera == "front" else SIDE - 8 - y
                picture[y : y + 8, x : x + 8] = 220
            video = folder / f"{episode}-{camera}.mkv"
            raw = ["-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{SIDE}x{SIDE}", "-r", str(RATE), "-i", "-"]
            raw += ["-f", "s16le", "-ar", str(SOUND_RATE), "-i", str(folder / f"{episode}.s16")]
            coders = ["-c:v", "ffv1", "-pix_fmt", "yuv420p", "-c:a", "pcm_s16le"]
            command = ["ffmpeg", "-v", "error", "-y", *raw, *coders, str(video)]
            subprocess.run(command, check=True, input=pictures.tobytes())
            row = {"path": video.name, "label": 0, "episode": episode, "camera": camera, "actions": f"{episode}.npy"}
            rows.append(json.dumps(row))
    (folder / "list.jsonl").write_text("\n".join(rows))
    vidrec.pack(folder / "list.jsonl", out, frames=FRAMES, track=f"action=actions,rate={2 * RATE}", audio=SOUND_RATE)
    return out


def loader(path: Path) -> vidrec.Loader:
    """Windows of six frames, one from every second frame on, with actions and sound from their first frame to their last."""
    steps = 2 * (WINDOW - 1)
    return vidrec.Loader(
        path, 8, frames=vidrec.Windows(WINDOW, hop=2), crop=16, channels="gray", dtype="float32", shuffle=True,
        cameras=vidrec.Cameras(["front", "wrist"]), output="torch",
        tracks={
            "action": vidrec.track(steps=steps + 1, rate=2 * RATE, how="previous"),
            "audio": vidrec.track(steps=steps * SOUND_STEP),
        },
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    batches = loader(make(args.data))
    torch.manual_seed(0)
    pixels, steps = 2 * 16 * 16, 2 * (WINDOW - 1)
    # Two numbers of each action, and how loud it was; the last action has no sound of its own any more.
    inputs = pixels + 2 * (steps + 1) + steps
    model = torch.nn.Sequential(torch.nn.Linear(inputs, 128), torch.nn.ReLU(), torch.nn.Linear(128, pixels))
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    for epoch in range(args.epochs):
        losses = []
        for batch in batches:
            # (B, V, T, C, H, W), (B, W, 2) and (B, W).
            first, last = batch.frames[:, :, 0].flatten(1), batch.frames[:, :, -1].flatten(1)
            action = torch.where(batch.track_masks["action"][..., None], batch.tracks["action"], 0.0)
            loudness = batch.tracks["audio"].float().abs().unflatten(1, (steps, SOUND_STEP)).mean(2) / 1e4
            predicted = model(torch.cat([first, action.flatten(1), loudness], 1))
            loss = ((predicted - last) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss))
        print(json.dumps({"epoch": epoch, "batches": len(losses), "loss": sum(losses) / len(losses)}))


if __name__ == "__main__":
    main()
