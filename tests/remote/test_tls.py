"""Servers over TLS: with a certificate of an authority that vidrec is told to believe, and with others."""
import pytest

import servers
from certificates import Authority
from conftest import Stored
from run import fails, vidrec

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def authority(folder):
    return Authority(folder, "authority-of-the-test")


@pytest.fixture(params=[servers.Nginx, servers.NginxAsS3], ids=["https", "s3"])
def serve(request, tmp_path, data_set):
    """Serves the data set with a certificate."""
    running = []

    def start(certificate):
        running.append(request.param(tmp_path, certificate))
        return Stored(running[0], data_set)

    yield start
    for server in running:
        server.stop()


def verify(stored, *options, **environment):
    return vidrec("verify", stored.location, *options, environment={**stored.environment, **environment})


def test_the_authority_is_given_by_the_environment_or_an_option(serve, authority):
    stored = serve(authority.sign("good"))
    done = verify(stored, "--deep", SSL_CERT_FILE=str(authority.path))
    assert done.returncode == 0, done.stderr
    done = verify(stored, "--deep", "--storage", f"ca_bundle={authority.path}")
    assert done.returncode == 0, done.stderr
    if stored.location.startswith("s3://"):
        assert verify(stored, AWS_CA_BUNDLE=str(authority.path)).returncode == 0


@pytest.mark.parametrize("certificate, cause", [
    ({}, "UnknownIssuer"),
    ({"days": -1}, "expired"),
    ({"host": "elsewhere.example"}, "not valid for name"),
])
def test_other_certificates_are_one_error_at_once(serve, authority, certificate, cause):
    stored = serve(authority.sign("other", **certificate))
    known = {"SSL_CERT_FILE": str(authority.path)} if certificate else {}
    fails(verify(stored, **known), stored.location + "/dataset.json", "certificate is not accepted", cause, "ca_bundle")


def test_a_machine_without_authorities(serve, authority):
    stored = serve(authority.sign("good"))
    none = {"SSL_CERT_FILE": "/nonexistent", "SSL_CERT_DIR": "/nonexistent"}
    fails(verify(stored, **none), "no certificate authorities", "ca_bundle")
    assert verify(stored, "--storage", f"ca_bundle={authority.path}", **none).returncode == 0


def test_a_file_without_certificates_is_refused(serve, authority, tmp_path):
    stored = serve(authority.sign("good"))
    (tmp_path / "empty.pem").write_text("")
    fails(verify(stored, "--storage", f"ca_bundle={tmp_path}/empty.pem"), "no certificates", "empty.pem", "PEM")
    fails(verify(stored, "--storage", f"ca_bundle={tmp_path}/missing.pem"), "could not read", "missing.pem")
