import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { encodeBoolean } from '../../src/attest/data.ts'
import { schemaUids } from '../../src/attest/schemas.ts'
import { createLog } from '../../src/base/log.ts'
import { readConfig } from '../../src/config/config.ts'
import { type SignerClient, startSigner } from '../../src/threads/signer-client.ts'
import type { AttestationPayload } from '../../src/wire/signing-messages.ts'
import { eventually } from '../eventually.ts'

const spawned = vi.hoisted((): { terminate(): Promise<number> }[] => [])
vi.mock('node:worker_threads', async (load) => {
  const actual = await load<typeof import('node:worker_threads')>()
  class RecordedWorker extends actual.Worker {
    constructor(...args: ConstructorParameters<typeof actual.Worker>) {
      super(...args)
      spawned.push(this)
    }
  }
  return { ...actual, Worker: RecordedWorker }
})

const payload: AttestationPayload = {
  kind: 'boolean',
  chainId: 84532,
  schema: schemaUids(readConfig({}, 1)).boolean,
  recipient: `0x${'0'.repeat(40)}`,
  data: encodeBoolean(true, [], 1_700_000_000, 'contains'),
}

let dataDir: string
let lines: string[]
let client: SignerClient | undefined
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'trigpoint-restart-'))
  lines = []
  spawned.length = 0
})
afterEach(async () => {
  await client?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

async function start(): Promise<SignerClient> {
  client = await startSigner(
    readConfig({ DATA_DIR: dataDir }, 1),
    createLog('json', (line) => lines.push(line)),
  )
  return client
}

describe('a signer thread that dies', () => {
  it('answers all pending requests with a retryable problem and restarts with the same key', async () => {
    const signer = await start()
    for (let round = 0; round < 3; round++) {
      const waiting = Array.from({ length: 200 }, () => signer.sign(payload))
      await spawned.at(-1)!.terminate()
      const results = await Promise.all(waiting)
      for (const result of results) {
        if (!result.ok) expect(result.problem).toMatchObject({ type: 'overloaded', retryAfterSeconds: 1 })
      }
      expect(results.some(({ ok }) => !ok)).toBe(true)
      expect(signer.isReady).toBe(false)
      expect(await signer.sign(payload)).toMatchObject({ ok: false, problem: { type: 'overloaded' } })
      await eventually(() => expect(signer.isReady).toBe(true))
      expect(await signer.sign(payload)).toMatchObject({ ok: true })
    }
    expect(lines.filter((line) => line.includes('signer thread started again'))).toHaveLength(3)
  })

  it('does not restart when its key came from the environment', async () => {
    process.env['SIGNER_PRIVATE_KEY'] = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
    const signer = await start()
    await spawned.at(-1)!.terminate()
    expect(String(await signer.lost)).toMatch(/private-key is no longer in the environment/)
    expect(await signer.sign(payload)).toMatchObject({ ok: false, problem: { type: 'overloaded' } })
  })

  it('does not restart after it was closed', async () => {
    const signer = await start()
    await signer.close()
    await new Promise((done) => setTimeout(done, 300))
    expect(signer.isReady).toBe(false)
    expect(spawned).toHaveLength(1)
    expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([])
  })
})
