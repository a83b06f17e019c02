"""The proxy for faults, tests/proxy, as a process."""
import json
import subprocess

from process import start


class Proxy:
    """In front of another server, or of a folder, as its options say; see `fault-proxy --help`.

    `before` is put before the command, as `["taskset", "-c", "1"]`.
    """

    def __init__(self, program, *options, before=()):
        self.process = start([*before, program, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        first = self.process.stdout.readline()
        if not first:
            raise RuntimeError(f"{program} {options} ended with status {self.process.wait()}")
        self.port = int(first)
        self.url = f"http://127.0.0.1:{self.port}"

    def tell(self, line):
        """Sends a command, such as `latency-ms 20`; its answer is a line of text."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().rstrip("\n")
        if answer.startswith("error: ") or not answer:
            raise ValueError(f"{line}: {answer or 'the proxy has ended'}")
        return answer

    def fault(self, kind, number=None, **rule):
        """Adds a fault, such as `fault("reset", {"after": 1000}, path=".rec", when={"nth": 2})`."""
        self.tell("fault " + json.dumps({"fault": kind if number is None else {kind: number}, **rule}))

    def counts(self):
        return json.loads(self.tell("counts"))

    def log(self):
        """The requests since the last call, with `--log`."""
        return json.loads(self.tell("log"))

    def stop(self):
        """Ends it; the counts at its end."""
        rest, _ = self.process.communicate(timeout=10)
        return json.loads(rest.splitlines()[-1])
