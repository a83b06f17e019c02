"""Docstrings and signatures as readers want them, where griffe shows what the source has.

Roles and links of Sphinx, which notebooks and `help()` show, become links. Types stay the words that they are. Defaults that are private
constants become their values.
"""
import re

import griffe

ROLE = re.compile(r":(func|class|meth|attr|mod|exc):`(?P<name>[\w.]+)`")
# Links of reStructuredText.
TITLED = re.compile(r"`([^`<>]+) <(https://[^>\s]+)>`_")
# Modules that users import; what others define has its name in the package.
MODULES = ("torch", "transformers", "vlm", "ray", "grain", "results", "words")
# Python in the text of a module, which numpydoc knows only in its sections.
SESSION = re.compile(r"(?:\A|(?<=\n\n))(>>> (?:.+\n?)+)")
# A parameter's line of numpydoc: names, then the type.
TYPE = re.compile(r"^([*\w]+(?:, [*\w]+)*) : (?=\S)", re.M)
# Nothing is seen of it. With it a type is no Python, so that griffe leaves `path-like` and `{"map", "read"}` as they are.
WORD_JOINER = "\u2060"
CONSTANT = re.compile(r"(?P<module>_\w+)\.(?P<name>[A-Z_]+)")


class Readable(griffe.Extension):
    def on_package(self, *, pkg, **_):
        """Once all of the package is known."""
        for item in below(pkg):
            if item.docstring:
                text = ROLE.sub(lambda found: link(pkg, item, found["name"]), item.docstring.value)
                text = TITLED.sub(r"[\1](\2)", text)
                if item.is_module:
                    text = SESSION.sub(r"```pycon\n\1\n```\n", text)
                item.docstring.value = TYPE.sub(rf"\1 : {WORD_JOINER}", text)
            if item.is_function:
                for parameter in item.parameters:
                    parameter.default = valued(pkg, parameter.default)


def valued(pkg, default):
    """A default that is `_storage.TIMEOUT` as 60.0."""
    constant = CONSTANT.fullmatch(str(default))
    return pkg[constant["module"]][constant["name"]].value if constant else default


def below(item):
    """All that a module or class has itself."""
    yield item
    for member in list(item.members.values()):
        if not member.is_alias:
            yield from below(member)


def link(pkg, item, name):
    """To the name as users write it: `Loader` is `vidrec.Loader`, and `stats` in a docstring of Loader `vidrec.Loader.stats`."""
    whole = name.startswith("vidrec.")
    short = name[len("vidrec."):] if whole else name
    for scope in [""] if whole else scopes(item):
        path = [*filter(None, [scope]), *short.split(".")]
        target = found(pkg, path)
        if target is not None:
            # What a class says of an attribute in its own docstring has no place of its own.
            shown = path if target.docstring or len(path) == 1 else path[:-1]
            return f"[`{name}`][{'.'.join(['vidrec', *shown])}]"
    return f"`{name}`"


def scopes(item):
    """Where a name may be, as public paths below the package: its class, its public module, the package."""
    owner = item if item.is_class else item.parent if item.parent is not None and item.parent.is_class else None
    if owner is not None:
        yield owner.name
    yield from (part for part in item.module.path.split(".")[1:] if part in MODULES)
    yield ""


def found(pkg, path):
    """What is at a path, if it belongs there and is not only imported."""
    here = pkg
    for part in path:
        target = here.final_target if here.is_alias else here
        members = target.all_members if target.is_class else target.members
        if part not in members or members[part].is_alias and target.is_module and part not in (target.exports or []):
            return None
        here = members[part]
    return here
