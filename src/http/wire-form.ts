import { STATUS_CODES } from 'node:http'
import type { Reply } from './port.ts'

/** The bytes of an answer to what is no request, after which the connection ends. */
export function wireForm(reply: Reply<string>): string {
  const lines = [...reply.headers.pairs, ...reply.fields]
  let text = `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status]}\r\nConnection: close\r\n`
  for (let at = 0; at < lines.length; at += 2) text += `${lines[at]}: ${lines[at + 1]}\r\n`
  return `${text}Content-Length: ${Buffer.byteLength(reply.body)}\r\n\r\n${reply.body}`
}
