import { STATUS_CODES } from 'node:http'
import type { ResponseData } from './port.ts'

/** Serializes a response to bytes that are not a valid request; the connection closes after it. */
export function serializeResponse(reply: ResponseData<string>): string {
  const lines = [...reply.headers.pairs, ...reply.fields]
  let text = `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status]}\r\nConnection: close\r\n`
  for (let index = 0; index < lines.length; index += 2) text += `${lines[index]}: ${lines[index + 1]}\r\n`
  return `${text}Content-Length: ${Buffer.byteLength(reply.body)}\r\n\r\n${reply.body}`
}
