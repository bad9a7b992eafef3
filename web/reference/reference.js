// Adds themes, copying, search and sending requests. The pages can be read without this script.
const SEARCH_ADDRESS = 'SEARCH_INDEX'
const MAX_HITS = 12
const REPLY_TIMEOUT_MS = 30_000
const MAX_SHOWN = 40_000

/** Creates an element with attributes, listeners (`onclick`) and children. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value)
    else if (value === true) made.setAttribute(key, '')
    else if (value !== false && value !== undefined) made.setAttribute(key, value)
  }
  made.append(...children)
  return made
}

function setUpTheme() {
  const button = document.getElementById('theme')
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const isDark = () => {
    const { theme } = document.documentElement.dataset
    return theme === undefined ? dark.matches : theme === 'dark'
  }
  const label = () => {
    const text = isDark() ? 'Use the light theme' : 'Use the dark theme'
    button.setAttribute('aria-label', text)
    button.title = text
  }
  button.addEventListener('click', () => {
    const theme = isDark() ? 'light' : 'dark'
    document.documentElement.dataset.theme = theme
    try {
      localStorage.setItem('theme', theme)
    } catch {
      // Some private windows block storage; the choice then lasts for this page.
    }
    label()
  })
  dark.addEventListener('change', label)
  label()
  button.hidden = false
}

function setUpCopying() {
  for (const block of document.querySelectorAll('pre.code-block')) {
    // The pages are built with the default address; replaces it by the address that serves them.
    const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) {
      const { currentNode } = texts
      currentNode.data = currentNode.data
        .replaceAll('http://127.0.0.1:3000', location.origin)
        .replaceAll('127.0.0.1:3000', location.host)
    }
    const button = element('button', { class: 'copy', type: 'button', onclick: () => copy(block, button) }, 'Copy')
    const holder = element('div', { class: 'code-holder' })
    block.replaceWith(holder)
    holder.append(block, button)
  }
}

async function copy(block, button) {
  const isDone = await navigator.clipboard.writeText(block.textContent.trimEnd()).then(
    () => true,
    () => false,
  )
  button.textContent = isDone ? 'Copied' : 'Select the text instead'
  setTimeout(() => {
    button.textContent = 'Copy'
  }, 1500)
}

function setUpSide() {
  const side = document.getElementById('side')
  const wide = matchMedia('(min-width: 900px)')
  const follow = () => {
    side.open = wide.matches
  }
  wide.addEventListener('change', follow)
  follow()
  side.addEventListener('click', ({ target }) => {
    if (target.closest('a') !== null && !wide.matches) side.open = false
  })
  side.querySelector('[aria-current="page"]')?.scrollIntoView({ block: 'nearest' })
}

/** Marks the section in view, in the list of contents on the right and in the one at the side. */
function setUpContents() {
  const links = [...document.querySelectorAll('.contents a, .side nav li li a')].filter(({ hash }) => hash !== '')
  const parts = links
    .map(({ hash }) => document.getElementById(decodeURIComponent(hash.slice(1))))
    .filter((part) => part !== null)
  if (parts.length === 0) return
  const mark = () => {
    const passed = parts.filter((part) => part.getBoundingClientRect().top < 140)
    const current = passed.at(-1) ?? parts[0]
    for (const link of links) link.classList.toggle('here', link.hash === `#${current.id}`)
  }
  let isWaiting = false
  addEventListener(
    'scroll',
    () => {
      if (isWaiting) return
      isWaiting = true
      requestAnimationFrame(() => {
        isWaiting = false
        mark()
      })
    },
    { passive: true },
  )
  mark()
}

function setUpExamples() {
  for (const select of document.querySelectorAll('.choose select')) {
    select.addEventListener('change', () => {
      const panel = select.closest('.panel')
      for (const example of panel.querySelectorAll('.example'))
        example.hidden = example.dataset.example !== select.value
      const shown = panel.querySelector('.example:not([hidden]) [data-language="sh"]')
      const [, body] = / -d '([\s\S]*)'\s*$/.exec(shown?.textContent ?? '') ?? []
      const area = panel.querySelector('textarea')
      if (area !== null && body !== undefined) area.value = body
    })
  }
}

function setUpTrying() {
  for (const form of document.querySelectorAll('.try form')) {
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void send(form)
    })
  }
}

async function send(form) {
  const { method, path } = form.dataset
  const query = new URLSearchParams()
  let address = path
  for (const input of form.querySelectorAll('input[data-in]')) {
    if (input.value === '') continue
    if (input.dataset.in === 'path') address = address.replace(`{${input.name}}`, encodeURIComponent(input.value))
    else query.set(input.name, input.value)
  }
  if (query.size > 0) address += `?${query}`
  const area = form.querySelector('textarea')
  const output = form.querySelector('output')
  const reply = form.querySelector('.reply')
  const button = form.querySelector('[type="submit"]')
  button.disabled = true
  output.textContent = 'Sending…'
  const began = performance.now()
  try {
    const response = await fetch(address, {
      method,
      ...(area === null ? {} : { body: area.value, headers: { 'content-type': 'application/json' } }),
      signal: AbortSignal.timeout(REPLY_TIMEOUT_MS),
    })
    const text = await response.text()
    const left = response.headers.get('x-ratelimit-remaining')
    output.textContent = `${Math.round(performance.now() - began)} ms, ${left} requests left this hour`
    const status = element(
      'p',
      {},
      element('span', { class: `status ${response.ok ? 'good' : 'bad'}` }, String(response.status)),
      ` ${response.headers.get('content-type') ?? ''}`,
    )
    const shown = visibleText(pretty(text))
    reply.replaceChildren(
      status,
      element(
        'pre',
        { class: 'code-block', dir: 'ltr', tabindex: '0' },
        shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown,
      ),
      ...(shown.length > MAX_SHOWN ? [cutNote(shown.length, method === 'GET' ? address : undefined)] : []),
    )
  } catch (error) {
    output.textContent = ''
    reply.replaceChildren(element('p', { class: 'note bad' }, `No response: ${error.message}`))
  }
  reply.hidden = false
  button.disabled = false
}

/** Says that a response is cut, with a link to the whole one if a link can send the request. */
function cutNote(length, address) {
  const words = `The first ${MAX_SHOWN.toLocaleString('en')} of ${length.toLocaleString('en')} characters. `
  return element(
    'p',
    { class: 'quiet' },
    words,
    address === undefined ? '' : element('a', { href: address }, 'Show all'),
  )
}

/** Escapes characters that cannot be seen or that change the direction of text, as JSON allows: a record may contain any of them. */
function visibleText(text) {
  return text.replace(
    /[\u007f-\u009f\u00ad\u180e\u200b\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function setUpSearch() {
  const button = document.getElementById('search-button')
  const input = element('input', {
    class: 'input',
    type: 'search',
    placeholder: 'Routes, schemas, pages',
    'aria-label': 'Search the documentation',
    autocomplete: 'off',
    spellcheck: 'false',
  })
  const hits = element('ul', { class: 'hits' })
  const dialog = element('dialog', { class: 'search', 'aria-label': 'Search' }, input, hits)
  document.body.append(dialog)
  let index
  const open = async () => {
    if (dialog.open) return
    dialog.showModal()
    input.select()
    try {
      index ??= await (await fetch(SEARCH_ADDRESS)).json()
      show()
    } catch {
      hits.replaceChildren(element('li', { class: 'quiet' }, 'The search index could not be loaded.'))
    }
  }
  const show = () => {
    const words = input.value
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '')
    const found =
      words.length === 0
        ? []
        : (index ?? []).filter(([title, , kind]) =>
            words.every((word) => `${title} ${kind}`.toLowerCase().includes(word)),
          )
    const isNothing = words.length > 0 && found.length === 0
    hits.replaceChildren(
      ...(isNothing ? [element('li', { class: 'quiet' }, 'No entry has all of these words.')] : []),
      ...found
        .slice(0, MAX_HITS)
        .map(([title, address, kind]) =>
          element('li', {}, element('a', { href: address }, title, element('span', { class: 'quiet' }, kind))),
        ),
    )
  }
  input.addEventListener('input', show)
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') hits.querySelector('a')?.click()
    if (event.key === 'ArrowDown') hits.querySelector('a')?.focus()
  })
  hits.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    event.preventDefault()
    const item = document.activeElement.closest('li')
    const next = event.key === 'ArrowDown' ? item.nextElementSibling : item.previousElementSibling
    ;(next?.querySelector('a') ?? input).focus()
  })
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog || event.target.closest('a') !== null) dialog.close()
  })
  button.addEventListener('click', open)
  addEventListener('keydown', (event) => {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? '')
    if ((event.key === '/' && !isTyping) || (event.key === 'k' && (event.ctrlKey || event.metaKey))) {
      event.preventDefault()
      void open()
    }
  })
  button.hidden = false
}

setUpTheme()
setUpCopying()
setUpSide()
setUpContents()
setUpExamples()
setUpTrying()
setUpSearch()
