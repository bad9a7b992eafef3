import type { Issuer, SyncStatus } from '../../../src/client/answers.ts'
import { h, replace } from '../dom.ts'
import { duration, shortHex, whole } from '../format.ts'

/** Members of the sync status that extend the interface, per chain. */
interface ChainProgress {
  readonly block: number | null
  readonly head: number | null
  readonly lagBlocks: number | null
  readonly lagSeconds: number | null
  readonly finalized: number | null
  readonly auditedTo: number | null
  readonly quarantined: number
  readonly reorgs: number
}

/** The table of all chains that the service signs for, with the progress of those that it reads. */
export function createChainTable() {
  const body = h('tbody')
  const element = h(
    'div',
    { class: 'table-scroll', tabindex: 0, role: 'region', 'aria-label': 'Chains' },
    h(
      'table',
      { class: 'table' },
      h('caption', { class: 'sr-only' }, 'Chains'),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ['Chain', 'EAS', 'Records', 'Block', 'Behind', 'Final', 'Audited to', 'Reorganisations', 'Quarantined'].map(
            (name) => h('th', { scope: 'col' }, name),
          ),
        ),
      ),
      body,
    ),
  )
  return { element, show }

  /** @param status undefined if this page has no access to it */
  function show(
    issuer: Issuer | undefined,
    status: SyncStatus | undefined,
    records: Readonly<Record<string, number>>,
  ): void {
    const progress = (status as unknown as { chains?: Record<string, ChainProgress> } | undefined)?.chains ?? {}
    const rows = (issuer?.chains ?? []).map(({ name, chainId, easVersion, registry }) => {
      const read = progress[name]
      const isRead = status?.supportedChains.includes(name) === true
      return h(
        'tr',
        {},
        h('th', { scope: 'row' }, name, h('span', { class: 'row-place' }, String(chainId))),
        h('td', {}, easVersion, h('span', { class: 'row-place mono' }, shortHex(registry))),
        h('td', { class: 'numeric' }, whole(records[name] ?? 0)),
        h('td', { class: 'numeric' }, number(read?.block)),
        h('td', {}, isRead ? behind(read) : h('span', { class: 'tag' }, 'Not read')),
        h('td', { class: 'numeric' }, number(read?.finalized)),
        h('td', { class: 'numeric' }, number(read?.auditedTo)),
        h('td', { class: 'numeric' }, number(read?.reorgs)),
        h('td', { class: 'numeric' }, number(read?.quarantined)),
      )
    })
    replace(body, rows)
  }
}

function behind(read: ChainProgress | undefined): HTMLElement {
  if (read?.lagBlocks === undefined || read.lagBlocks === null) return h('span', { class: 'tag' }, 'Not started')
  const age = read.lagSeconds === null ? '' : `, head ${duration(read.lagSeconds)} old`
  return h(
    'span',
    { class: `tag ${read.lagBlocks <= 2 ? 'good' : 'warn'}` },
    read.lagBlocks <= 2 ? `At the head${age}` : `${whole(read.lagBlocks)} blocks`,
  )
}

function number(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : whole(value)
}
