"""Runs the blocks of a page, one after the other, in the current folder: `python run_page.py PAGE`.

Shell blocks leave their folder and their exported variables to later blocks, as they do in a terminal. Python blocks
share one namespace, which is `__main__`. If a page says `outputs: checked`, what it shows is compared with what its blocks
print on standard output.
"""
import contextlib
import io
import linecache
import os
import shlex
import subprocess
import sys
import tempfile
import traceback
import types
from pathlib import Path

import pages

# Says which line of the page failed; then what a later block inherits.
SHELL = """trap 'printf "%s:%d: failed with status %d: %s\\n" {page} $((LINENO + {offset})) $? "$BASH_COMMAND" >&2' ERR
{text}
trap - ERR
env -0 > {state}
"""


class Failed(Exception):
    pass


def run_shell(page, block):
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "environment"
        script = SHELL.format(page=shlex.quote(page.name), offset=block.line - 2, text=pages.without_installs(block.text),
                              state=shlex.quote(str(state)))
        sys.stdout.flush()
        bash = subprocess.run(["bash", "-euo", "pipefail", "-c", script], stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE if page.checked else None)
        if page.checked:
            print(bash.stdout, end="", flush=True)
        if status := bash.returncode:
            raise Failed(f"{page.name}:{block.line}: the commands from here fail, with status {status}")
        if state.is_file():
            inherit(dict(item.split("=", 1) for item in state.read_text().split("\0") if item))
    return bash.stdout


def inherit(environment):
    os.chdir(environment["PWD"])
    os.environ.clear()
    os.environ.update(environment)


def run_python(page, block, namespace):
    try:
        # With the page's own numbers of lines.
        code = compile("\n" * (block.line - 1) + block.text, page.name, "exec")
        if not page.checked:
            exec(code, namespace)
            return None
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, namespace)
    except BaseException as error:
        places = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == page.name]
        if isinstance(error, SyntaxError) and error.filename == page.name:
            places.append(error.lineno)
        traceback.print_exc()
        raise Failed(f"{page.name}:{(places or [block.line])[-1]}: {type(error).__name__}: {error}") from None
    print(printed.getvalue(), end="", flush=True)
    return printed.getvalue()


def complete_torch(needs):
    """What frameworks ask for, and Debian's torch 1.13 lacks."""
    if not {"accelerate", "pytorch_lightning", "transformers"} & set(needs):
        return
    import torch

    if torch.__version__ >= "2":
        return
    for name, value in {"device_count": lambda: 1, "set_device": lambda device: None}.items():
        setattr(torch.cpu, name, getattr(torch.cpu, name, value))
    torch.serialization.register_package(1, lambda storage: None, lambda storage, place: storage if place == "cpu:0" else None)
    if "pytorch_lightning" in needs:
        from pytorch_lightning import LightningModule

        LightningModule._register_sharded_tensor_state_dict_hooks_if_available = lambda self: None


def run(page):
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    text = page.path.read_text(encoding="utf-8")
    complete_torch(page.needs)
    linecache.cache[page.name] = (len(text), None, text.splitlines(keepends=True), page.name)
    shown = {block.line: output for block, output in pages.outputs(page)} if page.checked else {}
    for block in page.blocks:
        if not block.runs:
            continue
        print(f"==> {page.name}:{block.line}", flush=True)
        printed = run_shell(page, block) if block.language == "sh" else run_python(page, block, main.__dict__)
        if output := shown.get(block.line):
            wrong = list(pages.differences(output.text, printed))
            if wrong:
                raise Failed(f"{page.name}:{output.line}: the program prints something else\n" + "\n".join(wrong))


if __name__ == "__main__":
    # As where the reader runs Python: modules come from the current folder.
    sys.path[0] = ""
    try:
        run(pages.read(sys.argv[1]))
    except Failed as failed:
        sys.stdout.flush()
        sys.exit(str(failed))
