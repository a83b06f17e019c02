"""A process that trains: it writes a line for each batch, and a state after some. Its argument is a file with its job."""
import json
import sys
import time
from pathlib import Path

import batches


def main():
    job = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(job["folder"])
    loader = batches.loader(job)
    if job["state"]:
        loader.load_state_dict(json.loads(Path(job["state"]).read_text()))
    with open(folder / "lines.jsonl", "a") as out, loader.monitor(job["monitor"], every=0.2):
        while loader.epoch < job["epochs"]:
            for batch in loader:
                out.write(json.dumps(batches.line(batch)) + "\n")
                out.flush()
                if (batch.number + 1) % job["save_every"] == 0:
                    save(folder / f"state-{batch.epoch}-{batch.number}.json", loader.state_dict())
                time.sleep(job["step_seconds"])


def save(path, state):
    part = path.with_suffix(".part")
    part.write_text(json.dumps(state, sort_keys=True))
    part.rename(path)


if __name__ == "__main__":
    main()
