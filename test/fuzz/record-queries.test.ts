import { afterAll, beforeAll, expect, it } from 'vitest'
import { randomFrom } from '../../bench/record-world.ts'
import { ENGINES, makeStore, type StoreFiles } from '../../bench/store-engines.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import { eventually } from '../eventually.ts'
import { scaled } from '../scale.ts'
import { startTestService, type TestService } from '../service.ts'
import { addressOf, recordOf, storeRecords, uidOf } from '../store-records.ts'

const COUNT = 50
const RANDOM_QUERIES = scaled(3000)
const SEED = 99

// Texts that reveal whether a statement is concatenated from input. They are sent alone and after a valid beginning.
const INJECTIONS = [
  "'",
  "''",
  '"',
  '`',
  ';',
  '--',
  '/*',
  '*/',
  '#',
  '\\',
  '\\x27',
  '%27',
  '%2527',
  '%00',
  '\u0000',
  '\u02bc',
  '\uff07',
  '$1',
  '$$',
  ':a',
  '?',
  '()',
  '{}',
  '[]',
  "' or 1=1--",
  "' or '1'='1",
  '" or ""="',
  "') or ('1'='1",
  '1 or 1=1',
  '1; select pg_sleep(60)',
  "'; drop table location_record; --",
  "'; delete from location_record; --",
  "' union select null,null--",
  "' union all select document from record_document--",
  "1' and (select pg_sleep(60))--",
  '1 and 1=cast(version() as int)',
  "'||pg_sleep(60)||'",
  "'||(select current_user)||'",
  "\\'; select 1;--",
  "E'\\\\x27'",
  '$a$;select pg_sleep(60)$a$',
  "1e0'",
  '0x31',
  'chr(39)||1',
  '1/**/or/**/1=1',
  '1\u00a0or\u00a01=1',
  "1'--",
  '1)--',
  '1))--',
  "'; copy location_record to program 'id'; --",
  "'; create table x(); --",
  "'; set role postgres; --",
  "' limit 1 offset 0--",
  ' order by 1--',
  "admin'--",
  "1' waitfor delay '0:0:5'--",
  '1 procedure analyse()',
  '{"$gt":""}',
  '[$ne]=1',
  '../../etc/passwd',
  '#{7*7}',
  '{{7*7}}',
  '<script>',
  '%s%n%x',
  'null',
  'undefined',
  'NaN',
  'true',
  '-1',
  '1e309',
  '9'.repeat(400),
  'A'.repeat(3000),
  '\ud800',
  '💥',
  '\r\nX-Injected: 1',
  '+',
  '&',
  '=',
  '==',
]
const STARTS = ['', 'celo', addressOf(1), uidOf(1), '2026-01-01', '1,2,3,4', '10', '[1,2,3,4']
const PARAMETERS = [
  'chain',
  'prover',
  'subject',
  'fromTimestamp',
  'toTimestamp',
  'bbox',
  'bbox[]',
  'limit',
  'offset',
  'cursor',
]

let files: StoreFiles
let service: TestService

beforeAll(async () => {
  files = await makeStore(ENGINES.at(-1)!)
  const database = await files.open()
  const store = createRecordStore(database, () => '2026-01-01T00:00:00.000Z')
  await storeRecords(
    store,
    Array.from({ length: COUNT }, (_, index) => recordOf(index)),
  )
  await database.close()
  service = await startTestService({ ...files.environment, RECORDS: '1', STORE_READ_MS: '30000' })
  await eventually(async () => expect((await fetch(`${service.url}/ready`)).status).toBe(200))
})
afterAll(async () => {
  await service.stop()
  await files.remove()
})

async function ask(path: string): Promise<number> {
  const response = await fetch(service.url + path)
  const body = (await response.json()) as { status?: string; message?: string; count?: number }
  expect([200, 400, 404], `${path} ${JSON.stringify(body).slice(0, 200)}`).toContain(response.status)
  if (response.status !== 200) expect([body.status, typeof body.message]).toEqual(['error', 'string'])
  // No injection widens a count. A query that sleeps is ended after STORE_READ_MS, with another status.
  expect(body.count ?? 0).toBeLessThanOrEqual(COUNT)
  return response.status
}

const safe = (text: string) => encodeURIComponent(Buffer.from(text).toString()) // lone surrogates cannot be sent

it(`treats ${INJECTIONS.length} injections in every parameter as invalid values`, async () => {
  for (const injection of INJECTIONS) {
    for (const parameter of PARAMETERS) {
      for (const start of STARTS) await ask(`/api/v0/location-records?${safe(parameter)}=${safe(start + injection)}`)
    }
    for (const start of ['', uidOf(1)]) {
      const path = safe(start + injection)
      expect(await ask(`/api/v0/location-proofs/${path === '' ? 'x' : path}`)).not.toBe(200)
    }
  }
  const after = (await (await fetch(`${service.url}/api/v0/location-records/stats`)).json()) as { total: number }
  expect(after.total).toBe(COUNT)
})

it(`answers ${RANDOM_QUERIES} random queries with 200 or 400 (seed ${SEED})`, async () => {
  const random = randomFrom(SEED)
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!
  const byte = () => String.fromCharCode(Math.floor(random() * 94) + 33)
  for (let round = 0; round < RANDOM_QUERIES; round++) {
    const pairs = Array.from({ length: Math.floor(random() * 5) }, () => {
      const value = random() < 0.5 ? pick(STARTS) : Array.from({ length: Math.floor(random() * 20) }, byte).join('')
      // Sometimes unencoded, including percent signs.
      return `${random() < 0.9 ? pick(PARAMETERS) : byte()}=${random() < 0.7 ? safe(value) : value.replaceAll('#', '')}`
    })
    await ask(`/api/v0/location-proofs?${pairs.join('&')}`)
  }
})
