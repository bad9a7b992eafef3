import { Marked } from 'marked'
import { highlight } from './highlight.mjs'
import { anchorOf, escapeHtml } from './html.mjs'

/**
 * Markdown as HTML.
 *
 * @param linkOf address of a link as the page shows it; undefined for what the service does not have: it stays text
 * @returns `html`, the text of the first heading as `title`, and the headings of the second and third level
 */
export function renderMarkdown(source, linkOf = (href) => href) {
  const taken = new Map()
  const headings = []
  let title = ''
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }) {
        const plain = plainText(text)
        if (depth === 1) {
          title ||= plain
          return `<h1>${this.parser.parseInline(tokens)}</h1>\n`
        }
        const id = anchorOf(plain, taken)
        if (depth <= 3) headings.push({ id, text: plain, depth })
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}<a class="anchor" href="#${id}" aria-label="Link to ${escapeHtml(plain)}">#</a></h${depth}>\n`
      },
      code({ text, lang }) {
        return codeBlock(text, (lang ?? '').split(/\s/)[0])
      },
      link({ href, tokens }) {
        const label = this.parser.parseInline(tokens)
        const target = linkOf(href)
        return target === undefined ? label : `<a href="${escapeHtml(target)}">${label}</a>`
      },
      image({ href, text }) {
        const source = linkOf(href)
        return source === undefined ? '' : `<img src="${escapeHtml(source)}" alt="${escapeHtml(text)}" loading="lazy">`
      },
      html({ text }) {
        // Comments mark places for tests; the pages have no other HTML.
        return text.trim().startsWith('<!--') ? '' : escapeHtml(text)
      },
    },
  })
  const html = marked
    .parse(source)
    .replaceAll('<table>', '<div class="table-scroll" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
  return { html, title, headings }
}

/** A block of code with its language on it; the script of the page adds a button that copies. */
export function codeBlock(code, language) {
  const name = language ? ` data-language="${escapeHtml(language)}"` : ''
  return `<pre class="code-block"${name} tabindex="0"><code>${highlight(code.replace(/\n$/, ''), language)}</code></pre>\n`
}

/** One line of Markdown, without a paragraph around it. */
export function renderInline(source) {
  return new Marked({ gfm: true }).parseInline(source)
}

function plainText(markdown) {
  return markdown
    .replace(/`([^`]*)`/g, '$1')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_]{1,2}(\S[^*_]*)[*_]{1,2}/g, '$1')
}
