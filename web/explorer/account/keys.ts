/** The API keys of the account: list, new key, rotate and revoke. */
import { clip, visibleText } from '../../../src/base/text.ts'
import type { Account, AccountKeyRequest, ApiKey, NewKey } from '../../../src/types/generated.ts'
import type { Api } from '../api.ts'
import { announce, copy, h, replace, toast } from '../dom.ts'
import { foreignText } from '../facts.ts'
import { timeUtc, whole } from '../format.ts'
import { icon } from '../icons.ts'
import { confirmed } from './dialogs.ts'
import { accountProblem } from './problem.ts'
import { type AccountSession, isEnded } from './session.ts'

type Scope = NonNullable<AccountKeyRequest['scopes']>[number]

const SCOPES: readonly (readonly [Scope, string])[] = [
  ['compute', 'Compute'],
  ['verify', 'Verify'],
  ['records', 'Records'],
  ['jobs', 'Jobs'],
]
const DAY_SECONDS = 86_400
/** Days for which a new key is valid; 0 until it is revoked. */
const VALIDITIES: readonly (readonly [days: number, words: string])[] = [
  [0, 'Until it is revoked'],
  [7, '7 days'],
  [30, '30 days'],
  [90, '90 days'],
  [365, 'A year'],
]
const OVERLAPS: readonly (readonly [seconds: number, words: string])[] = [
  [DAY_SECONDS, 'For a day'],
  [7 * DAY_SECONDS, 'For 7 days'],
  [3600, 'For an hour'],
  [0, 'No longer: it ends at once'],
]
const MAX_LABEL = 200
const SHOWN_LABEL = 80

/** @param ended called when the session has ended */
export function createKeyPanel(api: Api, session: AccountSession, ended: () => void) {
  const heading = h('h2', { tabindex: -1 }, 'API keys')
  const count = h('span', { class: 'hint numeric' })
  const fresh = h('div', { class: 'stack' })
  const list = h('div', { class: 'stack' })
  const outcome = h('div', { class: 'stack' })
  const name = h('input', {
    class: 'input',
    id: 'key-name',
    maxlength: MAX_LABEL,
    autocomplete: 'off',
    placeholder: 'such as the program that uses it',
  })
  const boxes = SCOPES.map(([scope, title]) => {
    const box = h('input', { type: 'checkbox', value: scope })
    box.defaultChecked = true // what a reset of the form restores
    return { scope, box, label: h('label', { class: 'switch' }, box, title) }
  })
  const validity = h(
    'select',
    { class: 'select', id: 'key-validity' },
    VALIDITIES.map(([days, words]) => h('option', { value: days }, words)),
  )
  const places = (id: string, placeholder: string) =>
    h('textarea', {
      class: 'textarea',
      id,
      rows: 2,
      autocomplete: 'off',
      spellcheck: 'false',
      placeholder,
      'aria-describedby': `${id}-hint`,
    })
  const origins = places('key-origins', 'https://example.org')
  const addresses = places('key-addresses', '192.0.2.7 or 2001:db8::/32')
  const create = h(
    'button',
    { class: 'button primary', type: 'submit', 'data-key': 'create' },
    icon('key'),
    'Create the key',
  )
  const form = h(
    'form',
    { class: 'key-form', 'aria-label': 'New API key', onsubmit: (event: Event) => void add(event) },
    h('div', { class: 'field' }, h('label', { for: 'key-name' }, 'Name'), name),
    h('div', { class: 'field' }, h('label', { for: 'key-validity' }, 'Valid'), validity),
    h(
      'fieldset',
      { class: 'key-scopes' },
      h('legend', {}, 'What it is for'),
      boxes.map(({ label }) => label),
    ),
    h(
      'details',
      { class: 'fold' },
      h('summary', {}, 'Where it may be used'),
      h(
        'div',
        { class: 'key-places' },
        placesField(
          'Origins of web pages',
          origins,
          'Browsers on other pages are rejected. One per line; all if empty.',
        ),
        placesField(
          'Network addresses',
          addresses,
          'Other addresses are rejected. One address or range per line; all if empty.',
        ),
      ),
    ),
    h('div', { class: 'row' }, create),
  )
  const element = h(
    'section',
    { class: 'account-card stack', 'aria-label': 'API keys' },
    h('div', { class: 'row between' }, heading, count),
    fresh,
    list,
    h('h3', { class: 'eyebrow' }, 'New key'),
    form,
    outcome,
  )
  let account: Account | undefined
  let keys: readonly ApiKey[] = []
  /** The key of the other pages, if it was made here. */
  let usedId: string | undefined
  /** Raised at the end of a session: answers to its requests are ignored. */
  let generation = 0
  /** Requests that wait or are on their way. Each waits for the one before it. */
  let pending = 0
  let last: Promise<unknown> = Promise.resolve()

  return {
    element,
    /** Shows the keys of an account. */
    async show(next: Account): Promise<void> {
      account = next
      replace(outcome)
      await load()
    },
    clear(): void {
      generation++
      pending = 0
      last = Promise.resolve()
      account = undefined
      keys = []
      replace(fresh)
      replace(list)
      replace(outcome)
      form.reset()
      updateCreate()
    },
  }

  async function load(): Promise<void> {
    await attempt(
      () => session.client.account.keys.list(),
      (read) => {
        keys = read
        showList()
      },
    )
  }

  async function add(event: Event): Promise<void> {
    event.preventDefault()
    const scopes = boxes.filter(({ box }) => box.checked).map(({ scope }) => scope)
    if (scopes.length === 0) {
      replace(outcome, h('p', { class: 'note bad', role: 'alert' }, 'Choose what the key is for: at least one.'))
      return
    }
    const label = name.value.trim()
    const days = Number(validity.value)
    const properties = {
      scopes,
      ...(label === '' ? {} : { label }),
      ...listed('origins', origins),
      ...listed('addresses', addresses),
      ...(days === 0 ? {} : { expiresAt: new Date(Date.now() + days * DAY_SECONDS * 1000).toISOString() }),
    }
    replace(outcome)
    const isMade = await attempt(
      () => session.client.account.keys.add(properties),
      (made) => {
        form.reset()
        showNew(made)
      },
    )
    if (isMade) await load()
  }

  async function rotate(key: ApiKey): Promise<void> {
    const number = generation
    const overlap = h(
      'select',
      { class: 'select', id: 'key-overlap' },
      OVERLAPS.map(([seconds, words]) => h('option', { value: seconds }, words)),
    )
    const isSure = await confirmed({
      title: ['Rotate ', foreignText(key.label, SHOWN_LABEL)],
      body: [
        h('p', { class: 'lead' }, 'A new key with the same name, scopes and end replaces this one.'),
        h('div', { class: 'field' }, h('label', { for: 'key-overlap' }, 'The old key stays valid'), overlap),
      ],
      answer: 'Rotate the key',
    })
    if (!isSure || number !== generation) return
    const options = { overlapSeconds: Number(overlap.value) }
    replace(outcome)
    const isRotated = await attempt(
      () => session.client.account.keys.rotate(key.id, options),
      (made) => {
        showNew(made)
        if (usedId === key.id) useInTab(made)
      },
    )
    if (isRotated) await load()
  }

  async function revoke(key: ApiKey): Promise<void> {
    const number = generation
    const isSure = await confirmed({
      title: ['Revoke ', foreignText(key.label, SHOWN_LABEL), '?'],
      body: h('p', { class: 'lead' }, 'The service rejects the key from now on. This cannot be undone.'),
      answer: 'Revoke the key',
      isDanger: true,
    })
    if (!isSure || number !== generation) return
    replace(outcome)
    const isRevoked = await attempt(
      () => session.client.account.keys.revoke(key.id),
      () => {
        toast('The key is revoked')
        if (usedId === key.id) {
          usedId = undefined
          api.setApiKey('')
        }
        if (fresh.querySelector(`[data-id="${key.id}"]`) !== null) replace(fresh)
      },
    )
    if (!isRevoked) return
    await load()
    heading.focus()
  }

  /** Shows a key, which no later response has, until the user has stored it. */
  function showNew(made: NewKey): void {
    const title = h('h3', { tabindex: -1 }, 'Your new key')
    const use = h(
      'button',
      { class: 'button', type: 'button', 'data-key': 'use', onclick: () => useInTab(made) },
      'Use it in this tab',
    )
    replace(
      fresh,
      h(
        'div',
        { class: 'note new-key stack', 'data-id': made.properties.id },
        title,
        h('p', {}, 'Store it now: the service has only its hash, and cannot show it again.'),
        h('code', { class: 'key-text', tabindex: 0 }, made.key),
        h(
          'div',
          { class: 'row' },
          h(
            'button',
            { class: 'button primary', type: 'button', onclick: () => void copy(made.key, 'API key') },
            icon('copy'),
            'Copy the key',
          ),
          use,
          h('button', { class: 'button quiet', type: 'button', onclick: hideNew }, 'I have stored it'),
        ),
      ),
    )
    title.focus()
    announce('The key is made. It is shown only now.')
  }

  function hideNew(): void {
    replace(fresh)
    heading.focus()
  }

  function useInTab({ key, properties }: NewKey): void {
    usedId = properties.id
    api.setApiKey(key)
    toast('The other pages of this tab use the key now')
  }

  function showList(): void {
    const { maxKeys = 0 } = account ?? {}
    count.textContent = `${whole(keys.length)} of ${whole(maxKeys)}`
    const isFull = keys.length >= maxKeys
    updateCreate()
    replace(
      list,
      keys.length === 0
        ? h('p', { class: 'hint' }, 'You have no keys yet. A key lets a program use your limit without the wallet.')
        : h('ul', { class: 'key-list' }, keys.map(row)),
      isFull &&
        h('p', { class: 'note' }, 'This is the most that an account may have. Revoke a key that is not needed.'),
    )
  }

  function row(key: ApiKey): HTMLElement {
    const isOver = key.expiresAt !== undefined && Date.parse(key.expiresAt) <= Date.now()
    const action = (words: string, act: () => Promise<void>, tone = '') =>
      h(
        'button',
        {
          class: `button small ${tone}`,
          type: 'button',
          'aria-label': `${words} ${visibleText(clip(key.label, SHOWN_LABEL))}, ${key.id}`,
          'data-key': `${words}-${key.id}`,
          onclick: () => void act(),
        },
        words,
      )
    return h(
      'li',
      { 'data-id': key.id },
      h(
        'div',
        { class: 'key-head' },
        h('strong', {}, foreignText(key.label, SHOWN_LABEL)),
        h('code', { class: 'hint' }, key.id),
        key.replacedBy !== undefined && h('span', { class: 'tag warn' }, 'Replaced'),
        isOver && h('span', { class: 'tag bad' }, 'Ended'),
      ),
      h(
        'div',
        { class: 'row key-actions' },
        key.replacedBy === undefined && !isOver && action('Rotate', () => rotate(key)),
        action('Revoke', () => revoke(key), 'danger'),
      ),
      h(
        'p',
        { class: 'hint numeric' },
        [
          `for ${key.scopes.join(', ')}`,
          `made ${timeOf(key.createdAt)}`,
          key.expiresAt === undefined ? 'valid until revoked' : `${isOver ? 'ended' : 'ends'} ${timeOf(key.expiresAt)}`,
          key.lastUsedAt === undefined ? undefined : `used ${timeOf(key.lastUsedAt)}`,
        ]
          .filter((part) => part !== undefined)
          .join(' · '),
      ),
      [...(key.origins ?? []), ...(key.addresses ?? [])].length > 0 &&
        h(
          'p',
          { class: 'hint key-where' },
          [
            key.origins === undefined ? undefined : `only from pages of ${key.origins.join(', ')}`,
            key.addresses === undefined ? undefined : `only from ${key.addresses.join(', ')}`,
          ]
            .filter((part) => part !== undefined)
            .join(' · '),
        ),
    )
  }

  function updateCreate(): void {
    create.disabled = pending > 0 || keys.length >= (account?.maxKeys ?? 0)
  }

  /**
   * Sends a request after those before it, and shows its error.
   *
   * @param use gets the response, unless the session has ended meanwhile
   * @returns false if it failed or the session has ended
   */
  function attempt<T>(send: () => Promise<T>, use: (response: T) => void): Promise<boolean> {
    const number = generation
    pending++
    updateCreate()
    const done = last.then(async () => {
      if (number !== generation) return false
      try {
        const response = await send()
        if (number !== generation) return false
        use(response)
        return true
      } catch (error) {
        if (number !== generation) return false
        if (isEnded(error)) ended()
        else outcome.append(accountProblem(error)) // the error of an earlier request stays
        return false
      } finally {
        if (number === generation) {
          pending--
          updateCreate()
        }
      }
    })
    last = done
    return done
  }
}

function placesField(title: string, area: HTMLTextAreaElement, hint: string): HTMLElement {
  return h(
    'div',
    { class: 'field' },
    h('label', { for: area.id }, title),
    area,
    h('p', { class: 'hint', id: `${area.id}-hint` }, hint),
  )
}

/** Returns the member of a request with the entries of a field, or none if it is empty. */
function listed(name: 'origins' | 'addresses', { value }: HTMLTextAreaElement): AccountKeyRequest {
  const entries = value.split(/[\s,]+/).filter((entry) => entry !== '')
  return entries.length === 0 ? {} : { [name]: entries }
}

function timeOf(iso: string): string {
  return timeUtc(Date.parse(iso) / 1000)
}
