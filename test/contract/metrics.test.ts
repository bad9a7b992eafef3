import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { eventually } from '../eventually.ts'
import { parseQuery } from '../promql.ts'
import { NO_LOCAL_CALLERS, startTestService, type TestService } from '../service.ts'
import { AUDIENCE, ISSUER, makeKeyPair } from '../token-issuer.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8')
const wordsIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, word]) => word!)

/** The rows of the table in docs/metrics.md: name → type and labels. */
const documented = new Map(
  PAGE.split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, name, type, labels]) => [wordsIn(name!)[0]!, { type, labels: wordsIn(labels!).sort() }]),
)

/** Parses the metric families of a response: name → type and the labels of its samples. */
function printed(text: string): Map<string, { type: string; labels: string[] }> {
  const families = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [
      name!,
      { type: type!, labels: [] as string[] },
    ]),
  )
  for (const line of text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))) {
    const [, sample, labels = ''] = /^([a-z_]+)(?:\{(.*)\})? \S+$/.exec(line)!
    const name = families.has(sample!) ? sample! : sample!.replace(/_(bucket|sum|count)$/, '')
    const labelNames = [...labels.matchAll(/([a-z_]+)="/g)].map(([, label]) => label!).filter((label) => label !== 'le')
    const family = families.get(name)!
    family.labels = [...new Set([...family.labels, ...labelNames])].sort()
  }
  return families
}

interface Panel {
  readonly id: number
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
}

const dashboard = JSON.parse(readFileSync(join(import.meta.dirname, '../../deploy/grafana/trigpoint.json'), 'utf8'))
const panels: readonly Panel[] = dashboard.panels
const expressions: readonly (readonly [title: string, expression: string, legend: string])[] = [
  ...panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => [title, expr, legendFormat] as const),
  ),
  ['annotation', dashboard.annotations.list[0].expr, dashboard.annotations.list[0].textFormat],
]
interface Alert {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly summary: string }
}

const alerts: readonly Alert[] = parse(
  readFileSync(join(import.meta.dirname, '../../deploy/prometheus-rules.yml'), 'utf8'),
).groups.flatMap(({ rules }: { rules: readonly Alert[] }) => rules)

/** Labels that Prometheus adds to every sample. */
const ADDED = ['instance', 'job']

let service: TestService
const folder = mkdtempSync(join(tmpdir(), 'trigpoint-metrics-'))
const keySet = join(folder, 'keys.json')
beforeAll(async () => {
  writeFileSync(keySet, JSON.stringify({ keys: [(await makeKeyPair('EdDSA')).jwk] }))
  const tokens = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE, JWT_JWKS: keySet }
  // The relay runs even though no RPC answers for the chain.
  const holders = { WALLET_TIER_TOKEN: `tier=internal,chain=84532,token=0x${'5f'.repeat(20)},balance=1` }
  const chain = { ...holders, RPC_URL_84532: 'http://127.0.0.1:1', ENABLE_ONCHAIN_SUBMIT: '1' }
  service = await startTestService({ ...NO_LOCAL_CALLERS, RATE_LIMIT_PUBLIC: '2', ...tokens, RECORDS: '1', ...chain })
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

/** Sends more items than the limit allows, so that the counters of rejections have samples. */
async function sendBatches(): Promise<void> {
  const point = { type: 'Point', coordinates: [2, 48] }
  const items = Array(3).fill({ op: 'distance', from: point, to: point })
  for (let time = 0; time < 2; time++)
    await service.post('/compute/v0/batch', { chainId: 84532, attest: 'none', items })
}

// It is first, because it reads the metrics before any request.
describe('the page on metrics', () => {
  it('names the metrics that have no sample before the first event', async () => {
    // Samples of the others come from the store and the relay, which open after the listener.
    await eventually(
      async () => {
        const text = await (await fetch(`${service.url}/metrics`)).text()
        const names = [...printed(text).keys()].filter((name) => !new RegExp(`^${name}(?:_count)?[ {]`, 'm').test(text))
        const [, sentence = ''] = /^These counters have no sample[^:]*: ([^.]*)\./m.exec(PAGE) ?? []
        expect(names.sort()).toEqual(wordsIn(sentence).sort())
      },
      { interval: 200 },
    )
  })

  it('lists exactly what the service prints, with types and labels', async () => {
    await sendBatches()
    // Submission metrics have samples once the database is open.
    await eventually(
      async () => {
        const text = await (await fetch(`${service.url}/metrics`)).text()
        expect(Object.fromEntries(printed(text))).toEqual(Object.fromEntries(documented))
      },
      { interval: 200 },
    )
  })
})

describe('the dashboard', () => {
  /** The label names of each sample, by sample name. */
  const samples = new Map<string, Set<string>>()
  beforeAll(async () => {
    await sendBatches()
    // Submission metrics have samples once the database is open.
    await eventually(
      async () => {
        const text = await (await fetch(`${service.url}/metrics`)).text()
        for (const [, name, labels] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
          const labelNames = samples.get(name!) ?? new Set(ADDED)
          samples.set(name!, labelNames)
          for (const [, label] of (labels ?? '').matchAll(/(\w+)="/g)) labelNames.add(label!)
        }
        for (const [, family] of text.matchAll(/^# TYPE (\S+) (?!histogram)/gm))
          expect([...samples.keys()]).toContain(family)
      },
      { timeout: 120_000, interval: 200 },
    )
  })

  it.each(expressions)('queries in %s only what the service exports: %s', (_, expression, legend) => {
    const { selectors, groupings } = parseQuery(expression)
    expect(selectors.length).toBeGreaterThan(0)
    for (const { metric, labels } of selectors) {
      expect([...samples.keys()]).toContain(metric)
      expect([...samples.get(metric)!]).toEqual(expect.arrayContaining([...labels, ...groupings]))
      // Counters are queried only through rate or increase, and gauges never are.
      expect(/_(?:total|bucket|sum|count)$/.test(metric)).toBe(
        new RegExp(`(?:rate|increase)\\(${metric}\\b`).test(expression),
      )
    }
    // A legend uses only labels that remain after aggregation.
    const named = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!)
    const remainingLabels = /\bby\b/.test(expression)
      ? groupings
      : selectors.flatMap(({ metric }) => [...samples.get(metric)!])
    expect(remainingLabels).toEqual(expect.arrayContaining(named))
  })

  it.each(alerts.map((alert) => [alert.alert, alert] as const))(
    'alerts in %s only on what the service exports',
    (_, { expr, annotations }) => {
      const { selectors, groupings } = parseQuery(expr)
      expect(selectors).toHaveLength(1)
      const { metric, labels } = selectors[0]!
      // Prometheus itself makes the metric `up`.
      const known = metric === 'up' ? new Set(ADDED) : samples.get(metric)
      expect([...(known ?? [])], metric).toEqual(expect.arrayContaining([...labels, ...groupings]))
      expect(/_total$/.test(metric)).toBe(new RegExp(`(?:rate|increase)\\(${metric}\\b`).test(expr))
      const named = [...annotations.summary.matchAll(/\{\{ \$labels\.(\w+) \}\}/g)].map(([, label]) => label!)
      expect(metric === 'up' ? ADDED : groupings).toEqual(expect.arrayContaining(named))
    },
  )

  it('alerts on errors without the polls of /ready, and on every state of the store but open', () => {
    const errors = alerts.find(({ alert }) => alert === 'TrigpointServerErrors')!
    expect(errors.expr).toContain('route!="/ready"')
    const store = alerts.find(({ alert }) => alert === 'TrigpointStoreNotOpen')!
    expect(store.expr).toContain('state!="open"')
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length)
  })

  it('shows every metric, filtered by the selected instance', () => {
    const queriedMetrics = new Set(
      expressions.flatMap(([, expression]) => parseQuery(expression).selectors.map(({ metric }) => metric)),
    )
    expect([...samples.keys()].filter((name) => !queriedMetrics.has(name))).toEqual([])
    for (const [title, expression] of expressions) {
      for (const { labels } of parseQuery(expression).selectors) expect(labels, title).toContain('instance')
    }
    const variable = dashboard.templating.list.find(({ name }: { name: string }) => name === 'instance')
    expect(variable.query.query).toBe('label_values(build_info, instance)')
  })

  it('has panels with distinct ids that do not overlap', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const cells = new Set<string>()
    for (const { title, gridPos } of panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(cells.has(`${x} ${y}`), title).toBe(false)
          cells.add(`${x} ${y}`)
        }
      }
    }
  })
})

describe('the parser of queries', () => {
  it.each([
    'sum(rate(http_requests_total[5m])',
    'sum(rate(http_requests_total))',
    'rate(http_requests_total[5 minutes])',
    'sum by route (http_in_flight)',
    'http_in_flight{route=GET}',
    'http_in_flight{route="x" method="y"}',
    'http_in_flight http_in_flight',
    'sum(http_requests_total[5m])',
    'quantil(0.5, http_in_flight)',
    'http_in_flight +',
    '1 + http_requests_total[5m]',
    '',
  ])('rejects %j', (text) => {
    expect(() => parseQuery(text)).toThrow(SyntaxError)
  })
})
