/** The frame of every page: brand, tabs, quota and theme button. */
import type { Api } from './api.ts'
import { h, replace, svg } from './dom.ts'
import { duration, whole } from './format.ts'
import { icon } from './icons.ts'
import type { PageName } from './router.ts'

const TITLES: Readonly<Record<PageName, string>> = {
  compute: 'Compute',
  jobs: 'Jobs',
  proof: 'Proof lab',
  records: 'Records',
  status: 'Status',
  gate: 'Gate',
  account: 'Account',
  verify: 'Receipt',
}

export function createShell(api: Api) {
  // The page of receipts is reached by the address of a receipt, so it needs no tab.
  const links = Object.entries(TITLES)
    .filter(([name]) => name !== 'verify')
    .map(([name, title]) => h('a', { href: `/explore/${name}`, 'data-page': name }, title))
  const slot = h('main', { class: 'page-slot', id: 'main', tabindex: -1 })
  const header = h(
    'header',
    { class: 'top' },
    h('a', { class: 'brand', href: '/explore/compute', 'data-page': 'compute' }, logo(), 'Trigpoint'),
    h('nav', { class: 'tabs', 'aria-label': 'Pages' }, links, h('a', { href: '/docs' }, 'Docs')),
    h('div', { class: 'end' }, createQuota(api), createThemeToggle()),
  )
  const announcer = h('div', { class: 'sr-only', id: 'announcer', 'aria-live': 'polite' })

  return {
    slot,
    mount(root: HTMLElement): void {
      replace(root, header, slot, announcer)
    },
    show(page: PageName, element: HTMLElement): void {
      for (const link of links) {
        if (link.dataset['page'] === page) link.setAttribute('aria-current', 'page')
        else link.removeAttribute('aria-current')
      }
      document.title = `${TITLES[page]} – Trigpoint`
      if (slot.firstElementChild !== element) slot.replaceChildren(element)
    },
  }
}

function logo(): SVGElement {
  const mark = svg(
    '<path class="triangle" d="M12 3.500 21.500 20h-19Z"/><circle class="dot" cx="12" cy="14.300" r="2.600"/>',
    'logo',
  )
  mark.setAttribute('viewBox', '0 0 24 24')
  return mark
}

/** Creates the button that shows the remaining quota and opens the dialog for an API key. */
function createQuota(api: Api): HTMLElement {
  const fill = h('i')
  const words = h('span', { class: 'numeric' }, 'API key')
  const button = h(
    'button',
    { class: 'quota', type: 'button', 'aria-haspopup': 'dialog' },
    h('span', { class: 'bar', hidden: true }, fill),
    words,
  )
  api.onQuota(({ limit, remaining, resetSeconds }) => {
    const isUnlimited = limit > 1e6
    fill.parentElement!.hidden = isUnlimited
    fill.style.width = `${(100 * remaining) / limit}%`
    button.dataset['low'] = String(remaining < limit / 5)
    replace(
      words,
      isUnlimited ? 'No limit' : [whole(remaining), h('span', { class: 'words-long' }, ' requests'), ' left'],
    )
    const left = duration(resetSeconds - Date.now() / 1000)
    button.title = isUnlimited
      ? 'This key has no hourly limit'
      : `${whole(remaining)} of ${whole(limit)} requests left; the limit resets in ${left}`
  })
  const input = h('input', {
    class: 'input mono',
    id: 'api-key',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'tp_dev_…',
    value: api.apiKey,
  })
  const dialog = h(
    'dialog',
    { class: 'dialog', 'aria-labelledby': 'key-title' },
    h(
      'form',
      {
        class: 'stack',
        method: 'dialog',
        onsubmit: () => api.setApiKey(input.value),
      },
      h('h2', { id: 'key-title' }, 'Requests and API key'),
      h(
        'p',
        { class: 'lead' },
        'Each signed result counts towards an hourly limit. An API key raises the limit; a development service prints a key when it starts. The key is stored in this tab only. With a wallet you make one yourself on the page ',
        h('a', { href: '/explore/account', 'data-page': 'account', onclick: () => dialog.close() }, 'Account'),
        '.',
      ),
      h('div', { class: 'field' }, h('label', { for: 'api-key' }, 'API key'), input),
      h(
        'div',
        { class: 'row end-row' },
        h('button', { class: 'button', type: 'button', onclick: () => dialog.close() }, 'Cancel'),
        h('button', { class: 'button primary', type: 'submit' }, 'Use this key'),
      ),
    ),
  )
  const open = () => {
    input.value = api.apiKey
    if (!dialog.isConnected) document.body.append(dialog)
    dialog.showModal()
    input.focus()
  }
  button.addEventListener('click', open)
  document.addEventListener('enterkey', open)
  return button
}

function createThemeToggle(): HTMLElement {
  const button = h('button', { class: 'icon-button', type: 'button', id: 'theme' })
  const isDark = () => {
    const { theme } = document.documentElement.dataset
    return theme === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark'
  }
  const show = () => {
    const label = isDark() ? 'Use the light theme' : 'Use the dark theme'
    button.setAttribute('aria-label', label)
    button.title = label
    replace(button, icon(isDark() ? 'sun' : 'moon'))
  }
  button.addEventListener('click', () => {
    const theme = isDark() ? 'light' : 'dark'
    document.documentElement.dataset['theme'] = theme
    try {
      localStorage.setItem('theme', theme)
    } catch {
      // Some private windows block storage; the choice then lasts until the page is reloaded.
    }
    show()
    document.dispatchEvent(new Event('themechange'))
  })
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show)
  show()
  return button
}
