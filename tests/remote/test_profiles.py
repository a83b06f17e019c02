"""Profiles of AWS's own tools: keys, commands, and what vidrec leaves to these tools."""
import json
import sys

import pytest

import servers
from run import fails, vidrec

pytestmark = pytest.mark.parametrize("server", ["s3"], indirect=True)


@pytest.fixture
def verify(stored, tmp_path):
    """Verifies the data set as a profile of these files says."""
    def verify(config, credentials="", profile="lab", **environment):
        (tmp_path / "config").write_text(config)
        (tmp_path / "credentials").write_text(credentials)
        environment = {"AWS_PROFILE": profile, "AWS_CONFIG_FILE": str(tmp_path / "config"),
                       "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"), **environment}
        return vidrec("verify", stored.location, environment=environment)

    return verify


@pytest.fixture
def lab(stored):
    """The profile, but for its credentials."""
    return f"[profile lab]\nregion = us-east-1\nendpoint_url = {stored.server.url}\n"


def command(tmp_path, text):
    """A command that runs this program."""
    (tmp_path / "tool.py").write_text(text)
    return f"credential_process = '{sys.executable}' '{tmp_path}/tool.py'\n"


def test_a_command_gives_the_credentials_once(verify, lab, tmp_path):
    found = {"Version": 1, "AccessKeyId": "AK", "SecretAccessKey": "S", "Expiration": "2999-01-01T00:00:00Z"}
    text = f"open({str(tmp_path / 'calls')!r}, 'a').write('x')\nprint({json.dumps(found)!r})"
    done = verify(lab + command(tmp_path, text))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "calls").read_text() == "x"


def test_a_command_that_fails_is_one_error(verify, lab, tmp_path):
    text = "import sys\nprint('of no secrecy')\nsys.exit('earlier\\nyou have to sign in')"
    done = verify(lab + command(tmp_path, text))
    fails(done, "s3://", 'profile "lab"', "you have to sign in", "run the command by hand")
    assert "secrecy" not in done.stderr and "earlier" not in done.stderr


def test_keys_of_the_environment_come_before_a_command(verify, lab, tmp_path):
    config = lab + command(tmp_path, "raise SystemExit(1)")
    assert verify(config).returncode == 1
    assert verify(config, **servers.S3.KEYS).returncode == 0


def test_keys_of_both_files(verify, lab):
    keys = "aws_access_key_id = AK\naws_secret_access_key = SK\n"
    assert verify(lab + keys).returncode == 0
    assert verify(lab, f"[lab]\n{keys}").returncode == 0


@pytest.mark.parametrize("lines, words", [
    ("sso_session = work\nsso_account_id = 1\n", ["sso_session", "aws sso login --profile lab"]),
    ("role_arn = arn:aws:iam::1:role/x\nsource_profile = other\n", ["role_arn", "assumes a role"]),
])
def test_what_only_the_tools_can_do_is_said(verify, lab, lines, words):
    """Even though there are other credentials in the files."""
    done = verify(lab + lines, "[lab]\naws_access_key_id = AK\naws_secret_access_key = SK\n")
    line = "credential_process = aws configure export-credentials --profile lab --format process"
    fails(done, 'profile "lab"', line, *words)


def test_a_profile_that_does_not_exist(verify, lab):
    fails(verify(lab, profile="labb"), "AWS_PROFILE", '"labb"', "does not exist")
