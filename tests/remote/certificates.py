"""Certificates of servers, and the authorities that sign them."""
import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = datetime.timedelta(days=1)


def _name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


class Authority:
    """One that signs certificates; `path` is the file that says so to those who believe it."""

    def __init__(self, folder, name):
        self.folder, self.name, self.key = folder, _name(name), ec.generate_private_key(ec.SECP256R1())
        certificate = self._signed(self.name, self.key, 365, x509.BasicConstraints(ca=True, path_length=None))
        self.path = folder / f"{name}.pem"
        self.path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def _signed(self, name, key, days, *extensions):
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = x509.CertificateBuilder().subject_name(name).issuer_name(self.name).public_key(key.public_key())
        builder = builder.serial_number(x509.random_serial_number())
        builder = builder.not_valid_before(now - 30 * DAY).not_valid_after(now + days * DAY)
        for extension in extensions:
            builder = builder.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
        return builder.sign(self.key, hashes.SHA256())

    def sign(self, name, host="127.0.0.1", days=1):
        """The files of a certificate for `host` and of its key. It ends in `days`, which may be over."""
        try:
            host = x509.IPAddress(ipaddress.ip_address(host))
        except ValueError:
            host = x509.DNSName(host)
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._signed(_name(name), key, days, x509.SubjectAlternativeName([host]),
                                   x509.BasicConstraints(ca=False, path_length=None))
        paths = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                               serialization.NoEncryption()))
        return paths
