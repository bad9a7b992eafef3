/** The built service with records in its store, for tests of how it serves them. */
import { expect } from 'vitest'
import { ENGINES, makeStore, type StoreFiles } from '../bench/store-engines.ts'
import { createRecordStore } from '../src/store/operations.ts'
import type { LocationRecord, RecordStore } from '../src/wire/store-messages.ts'
import { eventually } from './eventually.ts'
import { ADAPTERS, type AdapterName } from './running-http-server.ts'
import { startTestService, type TestService } from './service.ts'
import { storeRecords } from './store-records.ts'

/** Each engine and each adapter at least once. They are independent, so a full cross product would test nothing more. */
export const ENGINES_AND_ADAPTERS: readonly (readonly [ENGINE: (typeof ENGINES)[number], adapter: AdapterName])[] =
  Array.from({ length: Math.max(ENGINES.length, ADAPTERS.length) }, (_, index) => [
    ENGINES[index % ENGINES.length]!,
    ADAPTERS[index % ADAPTERS.length]!,
  ])

export interface RecordService extends TestService {
  readonly files: StoreFiles
  /** Stops the service and removes its records. */
  remove(): Promise<void>
}

/**
 * Starts the service once its records are readable.
 *
 * @param change further changes of the store before it starts
 */
export async function startRecordService(
  engine: (typeof ENGINES)[number],
  environment: Readonly<Record<string, string>>,
  records: readonly LocationRecord[],
  change: (store: RecordStore) => Promise<unknown> = async () => {},
): Promise<RecordService> {
  const files = await makeStore(engine)
  const database = await files.open()
  const store = createRecordStore(database, () => '2026-01-01T00:00:00.000Z')
  await storeRecords(store, records)
  await change(store)
  await database.close()
  const service = await startTestService({ ...files.environment, RECORDS: '1', ...environment })
  await untilReadable(service.url)
  return {
    ...service,
    files,
    async remove() {
      await service.stop()
      await files.remove()
    },
  }
}

/** Resolves when the store behind the listener is open. */
export async function untilReadable(url: string): Promise<void> {
  await eventually(async () => expect((await fetch(`${url}/api/v0/location-records?limit=1`)).status).toBe(200))
}
