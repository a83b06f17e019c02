// Tells the style sheet which output stands in columns that are wider than a phone, and where a table, a block of code or a
// drawing that scrolls has more to show. Lets the keyboard scroll it.
{
    const scrolling = ".md-typeset__scrollwrap, .md-typeset pre > code, .md-typeset figure"
    const isWideRow = line => line.length > 44 && /\S {3,}\S/.test(line)
    const look = part => {
        const more = part.scrollWidth - part.clientWidth
        part.classList.toggle("more-left", more > 1 && part.scrollLeft > 1)
        part.classList.toggle("more-right", more > 1 && part.scrollLeft < more - 1)
        if (more > 1) part.tabIndex = 0
        else part.removeAttribute("tabindex")
    }
    const sizes = new ResizeObserver(entries => entries.forEach(entry => look(entry.target)))
    document.addEventListener("DOMContentLoaded", () => {
        for (const code of document.querySelectorAll(".language-text pre > code"))
            code.classList.toggle("columns", code.textContent.split("\n").some(isWideRow))
        for (const part of document.querySelectorAll(scrolling)) {
            sizes.observe(part)
            part.addEventListener("scroll", () => look(part), { passive: true })
        }
    })
}
