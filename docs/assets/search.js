// People search for options as they type them, such as --max-frames. To lunr, a hyphen before a word means that pages with
// that word are not wanted, and every hyphen ends a word. This asks for the option by its title, in which the hyphens are
// those that end no word (scripts/docs/commands.py), and then for its words.
{
    const QUERY = 2
    const post = Worker.prototype.postMessage
    const option = name => `${name.replaceAll("-", "\u2011")}*^9 ${name.replace(/^-+/, "")}`
    const asked = query => query.replaceAll("\u2011", "-").replace(/(?<!\S)--\w[\w-]*/g, option).replace(/(^|\s)-+(?=\w)/g, "$1")
    Worker.prototype.postMessage = function (message, ...rest) {
        if (message.type === QUERY && typeof message.data === "string")
            message = { ...message, data: asked(message.data) }
        return post.call(this, message, ...rest)
    }
}
