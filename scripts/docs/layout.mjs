import { escapeHtml } from './html.mjs'

const MARK =
  '<svg viewBox="0 0 24 24" aria-hidden="true"><path class="triangle" d="M12 3.5 21.5 20h-19Z"/><circle class="dot" cx="12" cy="14.3" r="2.6"/></svg>'

/**
 * Renders a whole page.
 *
 * @param page `title`, `description`, `path`, `body`, `headings` for the list on the right, `kind` of layout
 * @param frame `nav`: groups of links; `style`, `script`, `theme`: addresses of the shared assets
 */
export function layout(page, { nav, style, script, theme }) {
  const groups = nav
    .map(
      ({ title, links }) =>
        `<section><h2>${escapeHtml(title)}</h2><ul>${links.map((link) => navItem(link, page.path)).join('')}</ul></section>`,
    )
    .join('')
  const headings = page.headings ?? []
  const contents =
    headings.length < 2
      ? ''
      : `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${headings
          .map(({ id, text, depth }) => `<li class="depth-${depth}"><a href="#${id}">${escapeHtml(text)}</a></li>`)
          .join('')}</ul></nav>`
  const isGuide = page.path.startsWith('/docs/guide')
  const tab = (href, text, isCurrent) => `<a href="${href}"${isCurrent ? ' aria-current="page"' : ''}>${text}</a>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(page.title)} – Trigpoint</title>
<meta name="description" content="${escapeHtml(page.description)}">
<link rel="icon" href="/favicon.ico">
<script src="${theme}"></script>
<link rel="stylesheet" href="${style}">
<script type="module" src="${script}"></script>
</head>
<body class="${page.kind}">
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<a class="brand" href="/">${MARK}Trigpoint</a>
<nav class="tabs" aria-label="Site">${tab('/explore', 'Explorer', false)}${tab('/docs', 'Reference', /^\/(?:docs|errors)/.test(page.path) && !isGuide)}${tab('/docs/guide', 'Guide', isGuide)}</nav>
<div class="end">
<button class="search-button" type="button" id="search-button" aria-haspopup="dialog" aria-label="Search" hidden><svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><circle cx="11" cy="11" r="6.5"/><path d="m16 16 4.5 4.5"/></svg><span>Search</span><kbd>/</kbd></button>
<button class="icon-button" type="button" id="theme" hidden><svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="8"/><path class="half" d="M12 4a8 8 0 0 1 0 16Z"/></svg></button>
</div>
</header>
<div class="frame">
<details class="side" id="side"><summary>Pages</summary><nav aria-label="Pages">${groups}</nav></details>
<main id="main" tabindex="-1">
${page.body}
</main>
${contents}
</div>
</body>
</html>
`
}

function navItem({ href, text, method, children = [] }, path) {
  const current = href === path ? ' aria-current="page"' : ''
  const badge = method === undefined ? '' : `<span class="method ${method.toLowerCase()}">${method}</span>`
  // Only the current page lists its sections.
  const sublist =
    children.length > 0 && href === path ? `<ul>${children.map((child) => navItem(child, path)).join('')}</ul>` : ''
  return `<li><a href="${href}"${current}>${badge}${escapeHtml(text)}</a>${sublist}</li>`
}
