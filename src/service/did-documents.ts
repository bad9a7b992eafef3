import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../config.ts'
import { javascriptKeccak } from '../crypto/keccak-javascript.ts'
import type { DidKey, DidKeys } from '../evidence-messages.ts'
import { readDidDocument } from '../verify/did-web.ts'

/** Documents in one folder, and bytes of each. */
const MAX_DOCUMENTS = 1000
const MAX_BYTES = 65_536

/**
 * The documents of `did:web` that an operator keeps, by their own `id`: each `.json` file in the folder and those below it,
 * such as `example.org/.well-known/did.json`. Nothing is looked up in the network, now or later.
 *
 * @throws {ConfigError} naming the file and what is wrong with it
 */
export function readDidDocuments(folder: string): DidKeys {
  const refuse = (what: string, cause?: unknown) =>
    new ConfigError(`DID_WEB_DIR=${JSON.stringify(folder)}: ${what}`, { cause })
  const files = filesIn(folder, refuse)
  if (files.length > MAX_DOCUMENTS) throw refuse(`${files.length} documents, at most ${MAX_DOCUMENTS}`)
  const keccak = javascriptKeccak()
  const documents = new Map<string, readonly DidKey[]>()
  for (const file of files) {
    const path = join(folder, file)
    if (statSync(path).size > MAX_BYTES) throw refuse(`${file}: more than ${MAX_BYTES} bytes`)
    try {
      const { id, keys } = readDidDocument(readFileSync(path, 'utf8'), keccak)
      if (documents.has(id)) throw new TypeError(`${id} is there already`)
      documents.set(id, keys)
    } catch (error) {
      throw refuse(`${file}: ${(error as Error).message}`, error)
    }
  }
  return documents
}

function filesIn(folder: string, refuse: (what: string, cause: unknown) => ConfigError): string[] {
  try {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return files.filter((file) => file.endsWith('.json')).sort()
  } catch (error) {
    throw refuse((error as Error).message, error)
  }
}
