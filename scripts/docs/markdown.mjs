import { Marked } from 'marked'
import { highlight } from './highlight.mjs'
import { anchorOf, escapeHtml } from './html.mjs'

/**
 * Converts Markdown to HTML.
 *
 * @param resolveLink converts the address of a link; undefined for what the service does not have, which is shown as text
 * @returns `html`, the text of the first heading as `title`, and the headings of the second and third level
 */
export function renderMarkdown(source, resolveLink = (href) => href) {
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
        const target = resolveLink(href)
        return target === undefined ? label : `<a href="${escapeHtml(target)}">${label}</a>`
      },
      image({ href, text }) {
        const source = resolveLink(href)
        return source === undefined ? '' : `<img src="${escapeHtml(source)}" alt="${escapeHtml(text)}" loading="lazy">`
      },
      html({ text }) {
        // Comments are marks for tests; the pages contain no other HTML.
        return text.trim().startsWith('<!--') ? '' : escapeHtml(text)
      },
    },
  })
  const html = marked
    .parse(source)
    .replaceAll('<table>', '<div class="table-scroll" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    // A cell without text heads nothing: screen readers would announce an empty heading.
    .replaceAll(/<th([^>]*)><\/th>/g, '<td$1></td>')
  return { html, title, headings }
}

/** Renders a block of code, labelled with its language. The page's script adds a copy button. */
export function codeBlock(code, language) {
  const name = language ? ` data-language="${escapeHtml(language)}"` : ''
  return `<pre class="code-block"${name} tabindex="0"><code>${highlight(code.replace(/\n$/, ''), language)}</code></pre>\n`
}

/** Renders one line of Markdown, without a paragraph element. A tag, such as the `<address>` of a format, is shown as text. */
export function renderInline(source) {
  return new Marked({ gfm: true, renderer: { html: ({ text }) => escapeHtml(text) } }).parseInline(source)
}

function plainText(markdown) {
  return markdown
    .replace(/`([^`]*)`/g, '$1')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_]{1,2}(\S[^*_]*)[*_]{1,2}/g, '$1')
}
