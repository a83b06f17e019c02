"""Sphinx's roles in docstrings as links: :func:`pack` is what a notebook and `help()` show, and a link in the site."""
import re

import griffe

ROLE = re.compile(r":(func|class|meth|attr|mod|exc):`(?P<name>[\w.]+)`")


class Roles(griffe.Extension):
    def on_package(self, *, pkg, **_):
        """Once all of the package is known."""
        for item in below(pkg):
            if item.docstring:
                item.docstring.value = ROLE.sub(lambda found: link(pkg, item, found["name"]), item.docstring.value)


def below(item):
    """All that a module or class has itself."""
    yield item
    for member in list(item.members.values()):
        if not member.is_alias:
            yield from below(member)


def link(pkg, item, name):
    """To the name as users write it: `Loader` in any docstring is `vidrec.Loader`, and `stats` in its own `vidrec.Loader.stats`."""
    short = name[len("vidrec."):] if name.startswith("vidrec.") else name
    for scope in scopes(item):
        if finds(pkg, f"{scope}.{short}" if scope else short):
            return f"[`{name}`][{'.'.join(filter(None, ['vidrec', scope, short]))}]"
    return f"`{name}`"


def scopes(item):
    """Where a name may be, as public paths below the package: its class, its public module, the package."""
    owner = item if item.is_class else item.parent if item.parent is not None and item.parent.is_class else None
    if owner is not None:
        yield owner.name
    modules = [part for part in item.module.path.split(".")[1:] if part in ("torch", "ray")]
    if modules:
        yield modules[0]
    yield ""


def finds(pkg, path):
    here = pkg
    for part in path.split("."):
        here = here.final_target if here.is_alias else here
        found = here.all_members if here.is_class else here.members
        if part not in found:
            return False
        here = found[part]
    return True
