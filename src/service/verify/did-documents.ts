import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../../config/config.ts'
import { javascriptKeccak } from '../../crypto/keccak-javascript.ts'
import { readDidDocument } from '../../verify/did-web.ts'
import type { DidKey, DidKeys } from '../../wire/evidence-messages.ts'

/** Limits: documents in the folder, and bytes of each. */
const MAX_DOCUMENTS = 1000
const MAX_BYTES = 65_536

/**
 * Reads the operator's `did:web` documents: each `.json` file in the folder and its subfolders, such as
 * `example.org/.well-known/did.json`. They are never fetched from the network.
 *
 * @returns keys by the document's `id`
 * @throws {ConfigError} with the file and its fault
 */
export function readDidDocuments(folder: string): DidKeys {
  const folderError = (fault: string, cause?: unknown) =>
    new ConfigError(`DID_WEB_DIR=${JSON.stringify(folder)}: ${fault}`, { cause })
  const files = listFiles(folder, folderError)
  if (files.length > MAX_DOCUMENTS) throw folderError(`${files.length} documents, more than ${MAX_DOCUMENTS}`)
  const keccak = javascriptKeccak()
  const documents = new Map<string, readonly DidKey[]>()
  for (const file of files) {
    const path = join(folder, file)
    if (statSync(path).size > MAX_BYTES) throw folderError(`${file}: more than ${MAX_BYTES} bytes`)
    try {
      const { id, keys } = readDidDocument(readFileSync(path, 'utf8'), keccak)
      if (documents.has(id)) throw new TypeError(`${id} is already defined by another file`)
      documents.set(id, keys)
    } catch (error) {
      throw folderError(`${file}: ${(error as Error).message}`, error)
    }
  }
  return documents
}

function listFiles(folder: string, folderError: (fault: string, cause: unknown) => ConfigError): string[] {
  try {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return files.filter((file) => file.endsWith('.json')).sort()
  } catch (error) {
    throw folderError((error as Error).message, error)
  }
}
