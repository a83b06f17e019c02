// People search for options as they type them, such as --max-frames. To lunr, a hyphen before a word means that pages with
// that word are not wanted, so this takes it away.
{
    const QUERY = 2
    const post = Worker.prototype.postMessage
    Worker.prototype.postMessage = function (message, ...rest) {
        if (message.type === QUERY && typeof message.data === "string")
            message = { ...message, data: message.data.replace(/(^|\s)-+(?=\w)/g, "$1") }
        return post.call(this, message, ...rest)
    }
}
