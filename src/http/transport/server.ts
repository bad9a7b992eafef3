import type { Log } from '../../base/log.ts'
import type { Config } from '../../config/config.ts'
import { NodeServer } from './node-adapter.ts'
import type { HttpHandler, HttpServer } from './port.ts'
import { createUwsServer } from './uws-adapter.ts'
import { loadInstalledUws, type UwsLoad } from './uws-binary.ts'

/**
 * Creates the transport that `HTTP_ADAPTER` names. If uWebSockets.js does not load, logs the reason and uses node:http.
 *
 * @param load replaced by tests
 */
export function createHttpServer(
  config: Config,
  handler: HttpHandler,
  log: Log,
  load: () => UwsLoad = () => loadInstalledUws([config.dataDir]),
): HttpServer {
  if (config.httpAdapter === 'uws') {
    const loaded = load()
    if (loaded.ok) return createUwsServer(loaded.uws, config, handler)
    log.warn('http adapter falls back to node:http', { reason: loaded.reason })
  }
  return new NodeServer(config, handler)
}
