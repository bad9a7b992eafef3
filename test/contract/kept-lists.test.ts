// The service caches the bytes of lists. The next response contains every change, whichever process wrote it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINES } from '../../bench/store-engines.ts'
import type { Database } from '../../src/store/database.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import type { RecordStore } from '../../src/wire/store-messages.ts'
import { type RecordService, startRecordService } from '../record-service.ts'
import { recordOf, uidOf } from '../store-records.ts'

const PATHS = ['location-records', 'location-proofs'].flatMap((route) =>
  ['limit=3', 'limit=3&f=geojson', 'limit=3&offset=2'].map((search) => `/api/v0/${route}?${search}`),
)

describe.skipIf(!ENGINES.includes('postgres'))('lists that are requested again', () => {
  let service: RecordService
  let database: Database
  let writer: RecordStore
  beforeAll(async () => {
    const records = Array.from({ length: 10 }, (_, index) => recordOf(index))
    service = await startRecordService('postgres', {}, records)
    database = await service.files.open()
    writer = createRecordStore(database, () => '2026-02-02T00:00:00.000Z')
  })
  afterAll(async () => {
    await database?.close()
    await service?.remove()
  })

  const get = async (path: string, method = 'GET') => {
    const response = await fetch(`${service.url}${path}`, { method })
    return { status: response.status, link: response.headers.get('link'), text: await response.text() }
  }

  it.each(PATHS)('are identical while nothing changes: %s', async (path) => {
    const first = await get(path)
    expect(first.status).toBe(200)
    for (let again = 0; again < 3; again++) expect(await get(path)).toEqual(first)
    expect(await get(path, 'HEAD')).toEqual({ ...first, text: '' })
    // A link names the host of the request.
    const elsewhere = await fetch(`${service.url}${path}`, { headers: { 'x-forwarded-host': 'other.example' } })
    expect(await elsewhere.text()).toBe(first.text)
  })

  it.each(PATHS)('show a change by another process: %s', async (path) => {
    const before = await get(path)
    const [uid] = /0x[0-9a-f]{64}/.exec(before.text)!
    const revocation = { uid: uid as `0x${string}`, blockNumber: 9_000_000 }
    const { revoked } = await writer.apply({ chainId: 84532, records: [], revocations: [revocation] })
    const after = await get(path)
    expect(after.text === before.text).toBe(revoked === 0)
    const changedList = JSON.parse(after.text)
    const [first] = changedList.data ?? changedList.features.map(({ properties }: { properties: object }) => properties)
    expect(first).toMatchObject({ uid, revoked: true })
  })

  it('count a record stored by another process', async () => {
    const { count } = JSON.parse((await get(PATHS[0]!)).text)
    await writer.apply({ chainId: 84532, records: [recordOf(11)], revocations: [] })
    expect(JSON.parse((await get(PATHS[0]!)).text).count).toBe(count + 1)
    expect((await get(`/api/v0/location-records/${uidOf(11)}`)).status).toBe(200)
  })

  it('do not send a page between threads again when the receiver has it', async () => {
    const query = { limit: 3, offset: 0 }
    const { versionTag, page } = await writer.newPage({ query, versionTag: undefined })
    expect(page).toMatchObject({ length: 3 })
    expect(await writer.newPage({ query, versionTag })).toEqual({ versionTag, page: undefined })
    await writer.apply({ chainId: 84532, records: [recordOf(12)], revocations: [] })
    const next = await writer.newPage({ query, versionTag })
    expect(next.versionTag).not.toBe(versionTag)
    expect(next.page).toMatchObject({ length: 3 })
  })
})
