import { createTransport } from '../../client/transport.ts'
import { type ServerOptions, transportOptions } from '../options.ts'
import type { Terminal } from '../terminal.ts'

/** Runs `trigpoint openapi`. It asks a service only if a URL is given. */
export async function printOpenApi(options: ServerOptions, terminal: Terminal): Promise<void> {
  const hasUrl = options.url !== undefined || Boolean(terminal.env['TRIGPOINT_URL'])
  const document = hasUrl
    ? await createTransport(transportOptions(options, terminal)).json(
        { method: 'GET', path: '/openapi.json' },
        { signal: terminal.signal },
      )
    : (await import('../../http/openapi/document.ts')).openApiDocument()
  await terminal.out(`${JSON.stringify(document, null, 2)}\n`)
}
