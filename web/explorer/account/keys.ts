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
  let isBusy = false

  return {
    element,
    /** Shows the keys of an account. */
    async show(next: Account): Promise<void> {
      account = next
      await attempt(load)
    },
    clear(): void {
      account = undefined
      keys = []
      replace(fresh)
      replace(list)
      replace(outcome)
      form.reset()
    },
  }

  async function load(): Promise<void> {
    keys = await session.client.account.keys.list()
    showList()
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
    const made = await attempt(() =>
      session.client.account.keys.add({
        scopes,
        ...(label === '' ? {} : { label }),
        ...(days === 0 ? {} : { expiresAt: new Date(Date.now() + days * DAY_SECONDS * 1000).toISOString() }),
      }),
    )
    if (made === undefined) return
    form.reset()
    showNew(made)
    await attempt(load)
  }

  async function rotate(key: ApiKey): Promise<void> {
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
    if (!isSure) return
    const options = { overlapSeconds: Number(overlap.value) }
    const made = await attempt(() => session.client.account.keys.rotate(key.id, options))
    if (made === undefined) return
    showNew(made)
    if (usedId === key.id) useInTab(made)
    await attempt(load)
  }

  async function revoke(key: ApiKey): Promise<void> {
    const isSure = await confirmed({
      title: ['Revoke ', foreignText(key.label, SHOWN_LABEL), '?'],
      body: h('p', { class: 'lead' }, 'The service rejects the key from now on. This cannot be undone.'),
      answer: 'Revoke the key',
      isDanger: true,
    })
    if (!isSure) return
    const revoked = await attempt(() => session.client.account.keys.revoke(key.id))
    if (revoked === undefined) return
    toast('The key is revoked')
    if (usedId === key.id) {
      usedId = undefined
      api.setApiKey('')
    }
    if (fresh.querySelector(`[data-id="${key.id}"]`) !== null) replace(fresh)
    await attempt(load)
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
    create.disabled = isFull || isBusy
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
    )
  }

  /** Runs one request at a time, and shows its error. @returns undefined if it failed */
  async function attempt<T>(run: () => Promise<T>): Promise<T | undefined> {
    if (isBusy) return undefined
    isBusy = true
    create.disabled = true
    try {
      const result = await run()
      replace(outcome)
      return result
    } catch (error) {
      if (isEnded(error)) ended()
      else replace(outcome, accountProblem(error))
      return undefined
    } finally {
      isBusy = false
      create.disabled = keys.length >= (account?.maxKeys ?? 0)
    }
  }
}

function timeOf(iso: string): string {
  return timeUtc(Date.parse(iso) / 1000)
}
