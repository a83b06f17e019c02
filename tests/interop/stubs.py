"""Empty modules in place of those that a peer imports at its start and never uses where it is used here."""
import importlib.machinery
import sys
import types

NAMES = {"azure", "boto3", "botocore", "brotli", "google", "oci", "paramiko", "requests", "snappy", "torch", "torchvision",
         "transformers", "zstd"}


class Stub(types.ModuleType):
    """A module that has every name, as an empty class."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__class_getitem__": classmethod(lambda cls, _: cls)})


class Finder:
    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        module = Stub(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module):
        pass


def install(names=NAMES):
    sys.meta_path.insert(0, Finder(names))
