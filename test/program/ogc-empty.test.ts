/** OGC API Features of services that have no records. */
import { expect, it } from 'vitest'
import { untilReadable } from '../record-service.ts'
import { startTestService } from '../service.ts'

it.each([
  ['reads no chain', {}, 'this service reads no chain'],
  ['has read none yet', { RPC_URL_84532: 'http://127.0.0.1:1' }, 'There are no features yet'],
])('says why a service that %s has no features', async (_, env, reason) => {
  const other = await startTestService({ RECORDS: '1', ...env })
  try {
    await untilReadable(other.url)
    const items = `${other.url}/ogc/collections/location-records/items`
    expect(await (await fetch(`${items}?f=html&limit=5`)).text()).toContain(reason)
  } finally {
    await other.stop()
  }
})
