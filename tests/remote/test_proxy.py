"""The proxy for faults in front of a real server, with a real client."""
import http.client
import urllib.error
import urllib.request

import pytest

from program import built
from proxy import Proxy
from servers import BUCKET, http_read


@pytest.fixture
def proxy(stored):
    proxy = Proxy(built("fault-proxy"), "--to", f"127.0.0.1:{stored.server.process.port}", "--log")
    yield proxy
    proxy.process.kill()
    proxy.process.communicate()


@pytest.mark.parametrize("server", ["s3"], indirect=True)
def test_boto3_gets_over_a_busy_server(stored, proxy):
    client = stored.server.client(proxy.url)
    key, content = stored.key("dataset.json"), stored.files["dataset.json"]
    proxy.tell("fault slow-down method=GET first=1")
    proxy.tell("fault lost method=GET nth=2")
    assert client.get_object(Bucket=BUCKET, Key=key)["Body"].read() == content
    assert [(e["status"], e["fault"]) for e in proxy.log()] == [(503, "slow-down"), (0, "lost"), (200, None)]


@pytest.mark.parametrize("server", ["s3"], indirect=True)
def test_an_upload_whose_answer_is_lost_took_effect(stored, proxy):
    client = stored.server.client(proxy.url)
    proxy.tell("fault lost method=PUT nth=1")
    # boto3 tries again by itself and then sees its own object.
    with pytest.raises(client.exceptions.ClientError) as error:
        client.put_object(Bucket=BUCKET, Key="lost", Body=b"x" * 100_000, IfNoneMatch="*")
    assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == 412
    assert stored.server.read("lost", 0, 9) == (206, b"x" * 10)


@pytest.mark.parametrize("server", ["nginx", "gcs", "azure", "without-ranges"], indirect=True)
def test_bytes_come_through_as_they_are(stored, proxy):
    path = {"gcs": f"/{BUCKET}/", "azure": f"/devstoreaccount1/{BUCKET}/"}
    for name, content in stored.files.items():
        # Azurite refuses requests without a signature, as it should, with a body of its own.
        url = path.get(type(stored.server).__name__.lower(), "/") + stored.key(name)
        direct, forwarded = (answer(f"{base}{url}") for base in (stored.server.url, proxy.url))
        assert forwarded == direct
        if type(stored.server).__name__ != "Azure":
            assert forwarded[1] == content


def answer(url):
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers.get("Content-Type")


@pytest.mark.parametrize("server", ["nginx"], indirect=True)
def test_faults_bite_and_are_counted(stored, proxy):
    (name,) = [name for name in stored.files if name.startswith("shard-00000-") and name.endswith(".rec")]
    content, url = stored.files[name], f"{proxy.url}/{stored.key(name)}"
    proxy.tell("fault short=10 nth=1")
    with pytest.raises(http.client.IncompleteRead):
        http_read(url, 0, 99)
    proxy.tell("clear")
    proxy.tell("fault flipped-byte=5 path=.rec")
    _, body = http_read(url, 0, 99)
    assert body != content[:100] and body[:5] + body[6:] == content[:5] + content[6:100]
    proxy.tell("clear")
    assert http_read(url, 0, 99) == (206, content[:100])
    counts = proxy.stop()
    assert (counts["requests"], counts["faults"], counts["body_bytes"]) == (3, 2, 10 + 100 + 100)
