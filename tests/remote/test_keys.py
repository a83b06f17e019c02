"""S3 with keys that are checked: wrong ones, and those of a user without rights, are one error at once."""
import http.server
import json
import threading
import urllib.request

import pytest

import servers
from conftest import Stored
from run import fails, vidrec


class Users:
    """A server that checks signatures and rights, with two users."""

    def __init__(self, folder, data_set):
        self.server = servers.S3(folder)
        self.stored = Stored(self.server, data_set)
        self.reader = self._user("reader", {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"})
        self.stranger = self._user("stranger", {"Effect": "Allow", "Action": "s3:ListAllMyBuckets", "Resource": "*"})
        # From now on, it checks.
        request = urllib.request.Request(f"{self.server.url}/moto-api/reset-auth", data=b"0", method="POST",
                                         headers={"Content-Type": "text/plain"})
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request).close()

    def _user(self, name, statement):
        import boto3
        from botocore.config import Config

        iam = boto3.client("iam", endpoint_url=self.server.url, region_name="us-east-1", aws_access_key_id="a",
                           aws_secret_access_key="b", config=Config(proxies={}))
        iam.create_user(UserName=name)
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam.put_user_policy(UserName=name, PolicyName=name, PolicyDocument=policy)
        key = iam.create_access_key(UserName=name)["AccessKey"]
        return {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}

    def verify(self, keys, *options):
        return vidrec("verify", self.stored.location, *options, environment={**self.server.environment, **keys})


@pytest.fixture(scope="module")
def users(tmp_path_factory, data_set):
    users = Users(tmp_path_factory.mktemp("users"), data_set)
    yield users
    users.server.stop()


def is_refused(done, users, *words):
    fails(done, users.stored.location + "/dataset.json", "access was refused (HTTP 403)", *words)
    for keys in (users.reader, users.stranger):
        assert keys["AWS_SECRET_ACCESS_KEY"] not in done.stdout + done.stderr


def test_the_right_keys_read(users):
    done = users.verify(users.reader)
    assert done.returncode == 0, done.stderr


def test_an_unknown_access_key(users):
    done = users.verify({**users.reader, "AWS_ACCESS_KEY_ID": "AKIAUNKNOWN"})
    is_refused(done, users, "InvalidAccessKeyId", "check the credentials")


def test_a_wrong_secret(users):
    done = users.verify({**users.reader, "AWS_SECRET_ACCESS_KEY": users.stranger["AWS_SECRET_ACCESS_KEY"]})
    is_refused(done, users, "SignatureDoesNotMatch", "check the credentials")


def test_no_right_to_read(users):
    is_refused(users.verify(users.stranger), users, "AccessDenied", "s3:GetObject")


def test_keys_of_options_come_alone(users):
    """A session token of the environment does not belong to them."""
    keys = {"access_key_id": users.reader["AWS_ACCESS_KEY_ID"],
            "secret_access_key": users.reader["AWS_SECRET_ACCESS_KEY"]}
    options = [word for name, value in keys.items() for word in ("--storage", f"{name}={value}")]
    done = users.verify({**users.stranger, "AWS_SESSION_TOKEN": "of another"}, *options)
    assert done.returncode == 0, done.stderr


class Elsewhere(http.server.BaseHTTPRequestHandler):
    """S3's answers to whoever asks the wrong region."""

    ANSWERS = {
        "redirect": (301, {"x-amz-bucket-region": "eu-west-1"}, "<Code>PermanentRedirect</Code>"),
        "head": (400, {"x-amz-bucket-region": "eu-west-1"}, ""),
        "malformed": (400, {}, "<Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region>"),
    }

    def do_GET(self):
        status, headers, text = self.ANSWERS[self.path.split("/")[1]]
        body = f"<?xml version=\"1.0\"?><Error>{text}<Header>{self.headers['Authorization']}</Header></Error>"
        body = body.encode() if text else b""
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def elsewhere():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("bucket", Elsewhere.ANSWERS)
def test_the_wrong_region(elsewhere, bucket):
    environment = {**servers.S3.KEYS, "AWS_ENDPOINT_URL": elsewhere, "AWS_SESSION_TOKEN": "of no secrecy, too"}
    done = vidrec("verify", f"s3://{bucket}/train", environment=environment)
    fails(done, f"s3://{bucket}/train/dataset.json", "region eu-west-1", "AWS_REGION")
    assert "secrecy" not in done.stderr and "AWS4" not in done.stderr
