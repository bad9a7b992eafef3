import { usage } from '../exit-codes.ts'
import type { Terminal } from '../terminal.ts'
import { readFileBytes } from './source.ts'

const MAX_BYTES = 64 * 1_048_576

/** Reads all bytes of a file, or of standard input for `-`. @throws {CommandError} beyond 64 MiB */
export async function readWhole(file: string, terminal: Terminal): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of readFileBytes(file, terminal)) {
    size += piece.length
    if (size > MAX_BYTES) throw usage(`${file}: is larger than 64 MiB`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** Reads a file that holds one JSON value. @throws {CommandError} if it is not JSON */
export async function readJsonFile(file: string, terminal: Terminal): Promise<unknown> {
  const text = (await readWhole(file, terminal)).toString('utf8').replace(/^\ufeff/, '')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw usage(`${file === '-' ? 'standard input' : file}: is no JSON: ${(error as Error).message}`, error)
  }
}
