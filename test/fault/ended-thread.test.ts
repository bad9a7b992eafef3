import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { TERMINABLE_BACKENDS } from '../../src/crypto/secp256k1.ts'
import { SYSTEM_SECP256K1 } from '../system-secp256k1.ts'

const THREADS = 12

describe('a thread that is ended in the middle of a signature', () => {
  for (const backend of TERMINABLE_BACKENDS) {
    it.skipIf(backend === 'system' && !SYSTEM_SECP256K1)(`does not crash the process: ${backend}`, () => {
      const program = join(import.meta.dirname, 'ended-thread.cjs')
      const { status, signal, stderr } = spawnSync(process.execPath, [program, backend, String(THREADS)])
      expect({ status, signal, stderr: stderr.toString() }).toEqual({ status: 0, signal: null, stderr: '' })
    })
  }
})
