import { isAscii, isUtf8 } from 'node:buffer'
import { ProblemError } from '../base/problem.ts'
import { guardJson } from './json-guard.ts'

export type JsonObject = Record<string, unknown>

/**
 * Parses a request body that must be a JSON object.
 *
 * @param maxDepth see `guardJson`
 * @throws {ProblemError} `bad-request` if it is empty, not UTF-8, not JSON or not an object
 */
export function parseJsonObject(bytes: Uint8Array, maxDepth: number): JsonObject {
  if (bytes.byteLength === 0) reject('the body is empty; send a JSON object', 'empty-body')
  const text = decodeUtf8(bytes)
  if (text === undefined) reject('the body is not UTF-8 text', 'not-utf8')
  guardJson(bytes, maxDepth)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    reject(`the body is not JSON: ${oneLine((error as Error).message)}`, 'not-json', error)
  }
  if (!isJsonObject(value)) {
    reject(
      `the body is ${Array.isArray(value) ? 'an array' : `a JSON ${describeValue(value)}`}; send one object`,
      'not-an-object',
    )
  }
  return value
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns undefined for invalid UTF-8. Most bodies are ASCII, for which latin1 is the fastest decoder. */
function decodeUtf8(bytes: Uint8Array): string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (isAscii(buffer)) return buffer.toString('latin1')
  return isUtf8(buffer) ? buffer.toString('utf8') : undefined
}

/** Describes a JSON value for a message: its type, and the value if it is short. */
export function describeValue(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return `array of ${value.length}`
  if (typeof value === 'object') return 'object'
  if (typeof value === 'string') return `string ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)}`
  return `${typeof value} ${String(value)}`
}

function oneLine(message: string): string {
  return message.replace(/\s+/g, ' ').slice(0, 160)
}

function reject(detail: string, code: string, cause?: unknown): never {
  throw new ProblemError({ type: 'bad-request', detail, invalidParts: [{ pointer: '#', detail, code }] }, { cause })
}
