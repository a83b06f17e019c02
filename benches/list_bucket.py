#!/usr/bin/env python3
"""Plans a bucket of any number of videos, none of which exists: time and memory of `vidrec plan`.

    python3 benches/list_bucket.py --objects 50000000 --shards 5000 --program target/release/vidrec

A server in this process makes up the pages of the bucket's list as they are asked for. The list and the plan are on disk: 100
and 400 bytes for each object.
"""
import argparse
import os
import resource
import subprocess
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

PAGE = 1000
OF_CLASS = 50_000


class Bucket(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    objects = 0

    def do_GET(self):
        query = parse_qs(urlparse(self.path).query)
        start = int(query.get("continuation-token", ["0"])[0])
        end = min(start + PAGE, self.objects)
        objects = [
            f"<Contents><Key>videos/class{i // OF_CLASS:05}/{i:09}.mp4</Key><LastModified>2026-01-01T00:00:00.000Z"
            f"</LastModified><ETag>&quot;{i * 2654435761 % 2**128:032x}&quot;</ETag><Size>{2_000_000 + i % 1000}</Size></Contents>"
            for i in range(start, end)
        ]
        more = f"<NextContinuationToken>{end}</NextContinuationToken>" if end < self.objects else ""
        body = f"<ListBucketResult>{''.join(objects)}{more}</ListBucketResult>".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, required=True)
    parser.add_argument("--shards", type=int, default=1000)
    parser.add_argument("--program", default="vidrec")
    given = parser.parse_args()
    Bucket.objects = given.objects
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bucket)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "TMPDIR": folder,
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}",
            "AWS_ACCESS_KEY_ID": "nobody",
            "AWS_SECRET_ACCESS_KEY": "nothing",
            "AWS_REGION": "us-east-1",
        }
        command = [given.program, "plan", "s3://bucket/videos/", "-o", f"{folder}/plan", "--shards", str(given.shards)]
        began = time.monotonic()
        subprocess.run(command, env=environment, check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(
            f"{given.objects:,} objects: {time.monotonic() - began:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of a processor, "
            f"{used.ru_maxrss / 1000:.1f} MB of memory"
        )


if __name__ == "__main__":
    main()
