import { createTransport } from '../../client/transport.ts'
import { type ServerOptions, transportOf } from '../options.ts'
import type { Terminal } from '../terminal.ts'

/** `trigpoint openapi`: no service is asked unless one was named. */
export async function printOpenApi(options: ServerOptions, terminal: Terminal): Promise<void> {
  const isNamed = options.url !== undefined || Boolean(terminal.env['TRIGPOINT_URL'])
  const document = isNamed
    ? await createTransport(transportOf(options, terminal)).json(
        { method: 'GET', path: '/openapi.json' },
        { signal: terminal.signal },
      )
    : (await import('../../http/openapi.ts')).openApiDocument()
  await terminal.out(`${JSON.stringify(document, null, 2)}\n`)
}
