/** An empty store on an engine, for the tests of one suite. */
import { afterAll, beforeAll } from 'vitest'
import { makeStore, type StoreFiles } from '../bench/store-engines.ts'
import type { Database } from '../src/store/database.ts'
import { createRecordStore } from '../src/store/operations.ts'
import type { RecordStore } from '../src/wire/store-messages.ts'

/** Opens a store before the tests and removes it after them. @param onOpen called with the store before the first test */
export function openStoreForTests(
  engine: Parameters<typeof makeStore>[0],
  onOpen: (store: RecordStore, database: Database) => void,
): void {
  let files: StoreFiles
  let database: Database
  beforeAll(async () => {
    files = await makeStore(engine)
    database = await files.open()
    onOpen(
      createRecordStore(database, () => '2026-01-01T00:00:00.000Z'),
      database,
    )
  })
  afterAll(async () => {
    await database.close()
    await files.remove()
  })
}
