"""The long-lived process of the soak that reads: a line of JSON in, one out. As a program, that process."""
import gc
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path

from machine import Failure, start


class Reader:
    """Asks it."""

    def __init__(self):
        self.log = None
        self.process = start([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, what, argument):
        self.process.stdin.write(json.dumps([what, argument]) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"error": "the reading process has ended"}')
        if "error" in answer:
            raise Failure(f"{what} {json.dumps(argument)}: {answer['error']}")
        return answer["told"]

    def lines(self, job):
        return self.ask("lines", job)

    def clips(self, path):
        return self.ask("clips", str(path))

    def usage(self):
        return self.ask("usage", None)

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def usage(_):
    """What this process holds: bytes of memory, open descriptors, threads, children."""
    gc.collect()
    status = dict(line.split(":\t") for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return {"rss": int(status["VmRSS"].split()[0]) * 1024, "descriptors": len(os.listdir("/proc/self/fd")),
            "threads": int(status["Threads"]), "children": len(children)}


def main():
    import batches

    known = {"usage": usage, **{name: getattr(batches, name) for name in ("lines", "clips")}}
    for text in sys.stdin:
        what, argument = json.loads(text)
        try:
            answer = {"told": known[what](argument)}
        except Exception:
            answer = {"error": traceback.format_exc()}
        print(json.dumps(answer, default=str), flush=True)


if __name__ == "__main__":
    main()
