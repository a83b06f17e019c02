"""A process that trains: it writes a line for each batch, and a state after some. Its argument is a file with its job."""
import json
import sys
import time
from collections import Counter
from pathlib import Path

import batches


def main():
    job = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(job["folder"])
    loader = batches.loader(job)
    if job["state"]:
        loader.load_state_dict(json.loads(Path(job["state"]).read_text()))
    lines = folder / "lines.jsonl"
    # A loop that resumes counts its batches from 0; these count from the start of the epoch.
    had = Counter(json.loads(text)["epoch"] for text in (lines.read_text().splitlines() if lines.exists() else ()))
    with lines.open("a") as out:
        while loader.epoch < job["epochs"]:
            for batch in loader:
                number = had[batch.epoch]
                had[batch.epoch] += 1
                out.write(json.dumps({**batches.line(batch), "number": number}) + "\n")
                out.flush()
                if (number + 1) % job["save_every"] == 0:
                    save(folder / f"state-{batch.epoch}-{number}.json", loader.state_dict())
                time.sleep(job["step_seconds"])


def save(path, state):
    part = path.with_suffix(".part")
    part.write_text(json.dumps(state, sort_keys=True))
    part.rename(path)


if __name__ == "__main__":
    main()
