#!/usr/bin/env python3
"""Draws which source file imports which, and fails where imports inside of a crate or of the Python package run in a circle.

    scripts/imports.py              what each crate imports, then the circles
    scripts/imports.py FOLDER       the files of a folder (as crates/vidrec-pack/src/run) and what each imports
    scripts/imports.py --sources D  reads the sources of another checkout, D

An import is a path that leads to a file where something is defined: through `use`, through re-exports, or written in
place. Tests inside the sources do not count. The compiler proves that crates do not import each other in circles.
"""
import ast
import re
import sys
from collections import defaultdict
from pathlib import Path

PYTHON = Path("python/vidrec")
ITEM = re.compile(r"\b(?:fn|struct|enum|union|trait|type|const|static|macro_rules!)\s+(?:mut\s+)?([A-Za-z_]\w*)")
MODULE = re.compile(r"((?:#\[[^\]]*\]\s*)*)(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;")
USE = re.compile(r"((?:#\[[^\]]*\]\s*)*)(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")
PATH = re.compile(r"(?<![\w:.$])([A-Za-z_]\w*(?:::[A-Za-z_]\w*)+)")


def blank(text):
    """The code without comments, strings and test modules."""
    text = re.sub(r'r(#*)".*?"\1', '""', text, flags=re.S)
    text = re.sub(r"'(?:\\.|[^\\'])'", "' '", text)
    text = re.sub(r'//[^\n]*|"(?:\\.|[^"\\])*"', lambda m: "" if m[0][0] == "/" else '""', text)
    out, at = [], 0
    for test in re.finditer(r"#\[cfg\((?:all\()?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*", text):
        if test.start() < at:
            continue
        out.append(text[at:test.start()])
        at = end_of_item(text, test.end())
    return "".join(out) + text[at:]


def end_of_item(text, at):
    """Where the item that begins at `at` ends: behind its `;` or its block."""
    depth = 0
    while at < len(text):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
        if depth == 0 and text[at - 1] in ";}":
            break
    return at


def top_level(text):
    """The code outside of all braces, with imports kept whole."""
    out, depth = [], 0
    for part in re.split(r"((?:\bpub(?:\([^)]*\))?\s+)?\buse\s+[^;]+;|[{}])", text):
        depth += {"{": 1, "}": -1}.get(part, 0)
        if depth == 0 or "use" in part[:20]:
            out.append(part)
    return "".join(out)


def expand(tree, prefix=()):
    """The (path, name) pairs of a `use` tree."""
    tree = tree.strip()
    if tree.startswith("{"):
        depth, begin = 0, 1
        for i, c in enumerate(tree):
            depth += {"{": 1, "}": -1}.get(c, 0)
            if (c == "," and depth == 1) or depth == 0:
                if tree[begin:i].strip():
                    yield from expand(tree[begin:i], prefix)
                begin = i + 1
        return
    head, brace, rest = tree.partition("::{")
    if brace:
        yield from expand("{" + rest, prefix + tuple(head.split("::")))
        return
    path, _, alias = tree.partition(" as ")
    path = prefix + tuple(p.strip() for p in path.split("::"))
    if path[-1] == "self":
        path = path[:-1]
    yield path, alias.strip() or path[-1]


class File:
    def __init__(self, crate, module, path):
        self.crate, self.module, self.path = crate, module, path
        code = blank(path.read_text())
        self.children = {name for _, name in MODULE.findall(code)}
        self.items = set(ITEM.findall(top_level(code)))
        self.uses = {}
        self.globs = []
        for _, _, tree in USE.findall(code):
            for target, name in expand(tree):
                if name == "*":
                    self.globs.append(target[:-1])
                elif name != "_":
                    self.uses[name] = target
                else:
                    self.uses["_" + target[-1]] = target
        body = USE.sub(lambda m: "", code)
        self.paths = {tuple(p.split("::")) for p in PATH.findall(body)}


class Crate:
    def __init__(self, root, name, top):
        self.name, self.files = name, {}
        self.read((), top)

    def read(self, module, path):
        file = self.files[module] = File(self, module, path)
        folder = path.parent if path.name in ("mod.rs", "lib.rs", "main.rs") else path.with_suffix("")
        for child in sorted(file.children):
            for candidate in (folder / f"{child}.rs", folder / child / "mod.rs"):
                if candidate.exists():
                    self.read((*module, child), candidate)

    def resolve(self, crates, file, path, seen=frozenset()):
        """The file that defines what `path` names in `file`, if that is in one of the crates."""
        if (file.module, path) in seen or not path:
            return None
        seen = seen | {(file.module, path)}
        module, rest = file.module, path
        if path[0] in ("crate", "self", "super"):
            while rest and rest[0] in ("crate", "self", "super"):
                module = () if rest[0] == "crate" else module[:-1] if rest[0] == "super" else module
                rest = rest[1:]
            return self.find(crates, module, rest, seen)
        if path[0] in file.uses and file.uses[path[0]][0] != path[0]:
            return self.resolve(crates, file, file.uses[path[0]] + path[1:], seen)
        if path[0] in crates and path[0] != self.name:
            other = crates[path[0]]
            return other.find(crates, (), path[1:], seen)
        if path[0] in file.items:
            return file
        if path[0] in file.children:
            return self.find(crates, module, path, seen)
        return None

    def find(self, crates, module, rest, seen):
        """What `rest` names, seen from `module`."""
        file = self.files.get(module)
        if file is None or not rest:
            return file
        if (*module, rest[0]) in self.files:
            return self.find(crates, (*module, rest[0]), rest[1:], seen)
        if rest[0] in file.items:
            return file
        if rest[0] in file.uses:
            return self.resolve(crates, file, file.uses[rest[0]] + rest[1:], seen)
        for glob in file.globs:
            found = self.resolve(crates, file, glob + rest, seen)
            if found:
                return found
        return file


def roots(root):
    """The first file of each crate, by the name that programs write."""
    for folder in sorted((root / "crates").glob("*")):
        yield folder.name.replace("-", "_"), folder / "src/lib.rs"
    yield "fault_proxy", root / "tests/proxy/src/lib.rs"
    yield "vidrec", root / "src/lib.rs"
    yield "python", root / "python/src/lib.rs"


def edges(root):
    crates = {name: Crate(root, name, top) for name, top in roots(root) if top.exists()}
    graph = defaultdict(set)
    for crate in crates.values():
        for file in crate.files.values():
            graph[file.path.relative_to(root)]
            targets = list(file.uses.values()) + list(file.paths) + file.globs
            for path in targets:
                found = crate.resolve(crates, file, path)
                if found and found is not file:
                    graph[file.path.relative_to(root)].add(found.path.relative_to(root))
    return graph


def python_edges(root):
    """The same for the modules of the Python package, wherever in a module they import."""
    files = {path.relative_to(root).with_suffix("").parts: path for path in (root / PYTHON).rglob("*.py")}
    graph = defaultdict(set)
    for module, path in files.items():
        graph[path.relative_to(root)]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not node.level:
                continue
            base = module[: -node.level] + tuple((node.module or "").split(".") if node.module else ())
            for name in node.names:
                candidates = [(*base, name.name), (*base, name.name, "__init__"), base, (*base, "__init__")]
                # The extension is no module of Python's.
                found = next((files[c] for c in candidates if c in files), None)
                if found and found != path and not name.name.startswith("_vidrec"):
                    graph[path.relative_to(root)].add(found.relative_to(root))
    return graph


def circles(graph):
    """Tarjan's strongly connected components of more than one node."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for to in graph[node]:
            if to not in index:
                visit(to)
                low[node] = min(low[node], low[to])
            elif to in stack:
                low[node] = min(low[node], index[to])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(found, key=len, reverse=True)


def inside(graph, folder):
    """The part of the graph that lies in `folder`, with its subfolders as one node each."""
    def node(path):
        rest = path.relative_to(folder).parts
        return rest[0]
    part = defaultdict(set)
    for file, targets in graph.items():
        if file.is_relative_to(folder):
            part[node(file)] |= {node(t) for t in targets if t.is_relative_to(folder)} - {node(file)}
    return part


def close_names(graph):
    """Files of one folder whose names differ by a letter, and files that are modules of a folder beside them."""
    folders = defaultdict(set)
    for file in graph:
        folders[file.parent].add(file.stem)
    for folder, names in sorted(folders.items()):
        for name in sorted(names):
            shorter = {name[:i] + name[i + 1 :] for i in range(len(name))}
            for other in sorted((shorter & names) | {o for o in names if o < name and one_letter(o, name)}):
                yield f"{folder}: {other}.rs and {name}.rs differ by a letter"
            if folder / name in folders:
                yield f"{folder}/{name}.rs: a module with files of its own is {name}/mod.rs"


def one_letter(a, b):
    return len(a) == len(b) > 3 and sum(x != y for x, y in zip(a, b)) == 1


def main():
    sys.setrecursionlimit(10_000)
    arguments = sys.argv[1:]
    root = Path(__file__).resolve().parent.parent
    if "--sources" in arguments:
        at = arguments.index("--sources")
        root = Path(arguments[at + 1]).resolve()
        del arguments[at : at + 2]
    graph = edges(root) | python_edges(root)
    folders = {p for file in graph for p in file.parents if p != Path(".")}
    for folder in [Path(a) for a in arguments] or [Path("crates")]:
        print(folder)
        part = inside(graph, folder)
        for name in sorted(part):
            print(f"  {name:22} -> {' '.join(sorted(part[name])) or '-'}")
    bad = 0
    for circle in circles(graph):
        bad += 1
        print(f"circle of {len(circle)} files: " + " ".join(map(str, circle)))
    for folder in sorted(folders):
        for circle in circles(inside(graph, folder)):
            bad += 1
            print(f"circle of {len(circle)} in {folder}: " + " ".join(circle))
    for fault in [] if "--sources" in sys.argv else close_names(file for file in graph if file.suffix == ".rs"):
        bad += 1
        print(fault)
    print(f"{len(graph)} files, {sum(map(len, graph.values()))} imports, {bad} faults")
    return 1 if bad else 0


sys.exit(main())
