"""vidrec as a process, in an environment of its own."""
import os
import subprocess
import tempfile
import time

from program import built

# What AWS's tools would find on the machine of whoever runs the tests.
FOREIGN = ("AWS_", "AZURE_", "GOOGLE_", "SSL_CERT_")


def vidrec(*arguments, environment=None):
    """Runs it without credentials, but for those in `environment`."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    with tempfile.TemporaryDirectory() as home:
        clean.update({"HOME": home, "AWS_EC2_METADATA_DISABLED": "true"})
        begin = time.monotonic()
        done = subprocess.run([built("vidrec"), *map(str, arguments)], capture_output=True, text=True, timeout=180,
                              env={**clean, **(environment or {})})
        done.seconds = time.monotonic() - begin
    return done


def fails(done, *words):
    """It ended with one clear error, which says all of this, and not after many tries."""
    assert done.returncode == 1, done
    errors = [line for line in done.stderr.splitlines() if line.startswith("vidrec: ")]
    assert len(errors) == 1, done.stderr
    for word in words:
        assert word in done.stderr, f"no {word!r} in {done.stderr}"
    # As long as one read may take; a single try takes a few milliseconds.
    assert done.seconds < 30 and "tries" not in done.stderr, done
