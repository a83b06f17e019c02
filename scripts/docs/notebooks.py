"""Notebooks as pages of the site: texts, code, and the outputs that the notebook holds."""
import json
import re
from pathlib import Path

LINK = re.compile(r"(\]\([\w./-]+)\.ipynb\)")
DOWNLOAD = '<a class="md-button" href="{name}" download>Download the notebook</a>\n'


def page(path):
    """A notebook's page in Markdown. Below the title is a link to the notebook itself."""
    first, *rest = json.loads(path.read_text(encoding="utf-8"))["cells"]
    parts = [text(first["source"]), DOWNLOAD.format(name=Path(path).name)]
    for cell in rest:
        if cell["cell_type"] == "markdown":
            parts.append(text(cell["source"]))
        else:
            parts.append(fence("python", text(cell["source"])))
            parts += [output(each, cell["metadata"]) for each in cell["outputs"]]
    return "\n\n".join(parts) + "\n"


def output(found, metadata):
    """The alternative text of a picture is in the metadata of its cell."""
    data = found.get("data", {})
    if "text/html" in data:
        return f'<div class="output">{text(data["text/html"])}</div>'
    if "image/jpeg" in data:
        return f'![{metadata["alt"]}](data:image/jpeg;base64,{text(data["image/jpeg"])})'
    return fence("text", text(found["text"] if found["output_type"] == "stream" else data["text/plain"]))


def fence(language, content):
    content = content.rstrip("\n")
    return f"```{language}\n{content}\n```"


def text(stored):
    """Notebooks hold texts as lists of lines, or whole."""
    return "".join(stored)


def linked(markdown):
    """With links to notebooks that lead to their pages."""
    return LINK.sub(r"\1.md)", markdown)
