"""Where code in the text may break at the end of a line."""
import re

BLOCK, CELL, INLINE = r"<pre.*?</pre>", r"<td.*?</td>", r"<code>[^<]*</code>"
PARTS = re.compile("|".join([BLOCK, CELL, INLINE]), re.S)
OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
JOINT = re.compile(r"(?<=\w)[(,=/](?=[^\W\d])")


def placed(html):
    """A page on which code in the text never breaks within an option, and in tables also at its joints, as a phone needs it."""
    return PARTS.sub(lambda found: found[0] if found[0].startswith("<pre") else marked(found[0]), html)


def marked(html):
    """A cell of a table, or code in the text."""
    in_table = html.startswith("<td")

    def code(found):
        jointed = JOINT.sub(r"\g<0><wbr>", found[0]) if in_table else found[0]
        return OPTION.sub(r'<span class="option">\g<0></span>', jointed)
    return re.sub(INLINE, code, html)
