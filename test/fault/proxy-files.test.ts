/** The proxy files of `deploy/` as docs/security.md describes them: TLS, the address of the client, limits, streams and events. */
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { EIFFEL_TOWER, ROME } from '../fixtures.ts'
import { blocksOf } from '../markdown-pages.ts'
import { PROXIES, type RunningProxy, startProxy } from '../proxies.ts'
import { type RecordService, startRecordService } from '../record-service.ts'
import { recordOf } from '../store-records.ts'

const NAME = 'trigpoint.example'
const MAX_PER_ADDRESS = 6
/** The proxy connects to the service from 127.0.0.1, the only address that the service trusts. */
const CLIENT_ADDRESS = '127.0.0.2'

/** Returns the block of docs/operations.md that begins so. */
function block(beginning: string): string {
  return blocksOf('docs/operations.md').find(({ code }) => code.startsWith(beginning))!.code
}

/** Makes a certificate for `NAME` with the commands of the page. */
function makeCertificate() {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-tls-'))
  execFileSync('sh', ['-ec', block('umask 077').replaceAll('/etc/ssl', folder)], { stdio: 'ignore' })
  const [key, certificate] = [join(folder, 'trigpoint.key'), join(folder, 'trigpoint.pem')]
  for (const file of [key, certificate]) expect(statSync(file).mode & 0o077).toBe(0)
  return { folder, key, certificate, both: certificate }
}

interface Response {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

/** Connects, and sends the beginning of a request. @returns the milliseconds until the connection ends */
function beginRequest(port: number, ca: Buffer): Promise<number> {
  const began = Date.now()
  return new Promise((done) => {
    const socket = connect({ host: '127.0.0.1', port, servername: NAME, ca }, () => {
      socket.write(`GET /health HTTP/1.1\r\nHost: ${NAME}\r\n`)
    })
    socket.on('data', () => {})
    socket.on('close', () => done(Date.now() - began))
    socket.on('error', () => {})
  })
}

let service: RecordService
beforeAll(async () => {
  const environment = { TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT_PUBLIC: '1000', PUBLIC_URL: `https://${NAME}` }
  service = await startRecordService('embedded', environment, [recordOf(1)])
})
afterAll(() => service?.remove())

describe.each(PROXIES)('the file of %s', (name) => {
  const tls = makeCertificate()
  const ca = readFileSync(tls.certificate)
  let proxy: RunningProxy
  let slowConnection: Promise<number>

  beforeAll(async () => {
    proxy = await startProxy(name, Number(new URL(service.url).port), { tls, maxPerAddress: MAX_PER_ADDRESS })
    // It takes ten seconds, in which the other tests run.
    slowConnection = beginRequest(proxy.port, ca)
  })
  afterAll(async () => {
    await proxy?.stop()
    rmSync(tls.folder, { recursive: true })
  })

  const options = (path: string, more: RequestOptions = {}): RequestOptions => ({
    host: '127.0.0.1',
    port: proxy.port,
    servername: NAME,
    ca,
    path,
    agent: false,
    localAddress: CLIENT_ADDRESS,
    ...more,
    headers: { host: NAME, ...more.headers },
  })

  function send(path: string, more: RequestOptions = {}, body?: string): Promise<Response> {
    return new Promise((done, refuse) => {
      const sent = request(options(path, more), (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (piece: string) => {
          text += piece
        })
        response.on('end', () => done({ status: response.statusCode!, headers: response.headers, text }))
      })
      sent.on('error', refuse)
      sent.end(body)
    })
  }

  const remaining = ({ headers }: Response) => Number(headers['x-ratelimit-remaining'])
  const compute = (headers: Record<string, string> = {}) =>
    send(
      '/compute/v0/distance',
      { method: 'POST', headers },
      JSON.stringify({ chainId: 84532, from: EIFFEL_TOWER, to: ROME }),
    )

  it('ends TLS, and says that browsers have to use it', async () => {
    const { status, headers, text } = await send('/health')
    expect([status, JSON.parse(text).status]).toEqual([200, 'ok'])
    expect(headers['strict-transport-security']).toBe('max-age=31536000')
    const older = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1' } as const
    await expect(send('/health', older)).rejects.toThrow(/protocol|EPROTO|alert|reset|hang up/i)
  })

  it.skipIf(name === 'caddy')('sends clients without TLS to the same address with TLS', async () => {
    const { statusCode, headers } = await new Promise<IncomingMessage>((done) => {
      httpGet({ host: '127.0.0.1', port: proxy.redirectPort, path: '/docs?a=b', headers: { host: NAME } }, done).end()
    })
    expect([statusCode, headers.location]).toEqual([308, `https://${NAME}/docs?a=b`])
  })

  it('gives the service the address of the client, whatever the client writes about it', async () => {
    const first = remaining(await compute())
    const lists = ['198.51.100.1', '2001:db8::1', '198.51.100.2, 127.0.0.1', 'unknown', '127.0.0.1']
    for (const [index, list] of lists.entries()) {
      const response = await compute({ 'x-forwarded-for': list, forwarded: `for=${list.split(',')[0]}` })
      // Another address would begin a new hour.
      expect(remaining(response), list).toBe(first - index - 1)
    }
  })

  it('can be checked by the commands of docs/operations.md on the machine of the proxy', async () => {
    // Other addresses than those of the page, because the proxies of this file have one service.
    const index = PROXIES.indexOf(name)
    const commands = block('client() {')
      .replaceAll('127.0.0.2', `127.0.2.${index}`)
      .replaceAll('127.0.0.3', `127.0.3.${index}`)
      .replace(':443:', `:${proxy.port}:`)
      .replace(`https://${NAME}`, `https://${NAME}:${proxy.port}`)
    const printed = await promisify(execFile)('sh', ['-ec', commands])
    const values = printed.stdout.trim().split(/\s*\n/)
    const [title] = values[0]!.split(' ')
    expect(title).toMatch(/^x-ratelimit-remaining:$/i)
    // The limit of the service of this file is 1000.
    expect(values).toEqual([999, 998, 1000, 998].map((remaining) => `${title} ${remaining}`))
  })

  it('does not answer internal routes', async () => {
    for (const path of ['/metrics', '/api/sync/status', '/api/sync', '//metrics', '/%6detrics', '/api//sync/status'])
      expect([403, 404], path).toContain((await send(path)).status)
  })

  it('lets the service reject a body that is too large, in its own words', async () => {
    const { status, headers, text } = await send('/compute/v0/area', { method: 'POST' }, ' '.repeat(1_200_000))
    expect([status, headers['content-type']]).toEqual([413, 'application/problem+json; charset=utf-8'])
    expect(JSON.parse(text).type).toBe(`https://${NAME}/errors/payload-too-large`)
  })

  it('passes long addresses, and rejects headers that the service would reject', async () => {
    const filter = `chain = '${'x'.repeat(3000)}'`
    const long = await send(`/ogc/collections/location-records/items?filter=${encodeURIComponent(filter)}`)
    expect([long.status, JSON.parse(long.text).status]).toEqual([400, 'error'])
    const headers = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`a${index}`, 'x'.repeat(2000)]))
    const rejected = await send('/health', { headers }).then(
      ({ status }) => status,
      () => 'closed',
    )
    expect([400, 431, 'closed']).toContain(rejected)
  })

  it.each([
    ['that stays open', true],
    ['that is new', false],
  ])('answers each line of a stream before the next one is sent, on a connection %s', async (_, keepAlive) => {
    const agent = new Agent({ keepAlive })
    const lines: number[] = []
    const isComplete = await new Promise<boolean>((done, refuse) => {
      const path = '/compute/v0/batch?chainId=84532&attest=none'
      const headers = { 'content-type': 'application/x-ndjson' }
      const sent = request(options(path, { method: 'POST', agent, headers }), (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (piece: string) => {
          text += piece
          const complete = text.split('\n').slice(0, -1)
          while (lines.length < complete.length) {
            lines.push(JSON.parse(complete[lines.length]!).id)
            if (lines.length === 5) sent.end()
            else if (lines.length < 5) writeLine()
          }
        })
        response.on('end', () => done(response.complete))
      })
      const writeLine = () =>
        sent.write(`${JSON.stringify({ op: 'distance', id: lines.length, from: EIFFEL_TOWER, to: ROME })}\n`)
      sent.on('error', refuse)
      writeLine()
    })
    agent.destroy()
    expect([isComplete, lines]).toEqual([true, [0, 1, 2, 3, 4]])
  })

  it('sends events as they happen', async () => {
    const first = await new Promise<string>((done, refuse) => {
      const sent = request(options('/api/v0/location-records/stream'), (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece
          if (!text.includes('\n\n')) return
          done(text)
          sent.destroy()
        })
      })
      sent.on('error', refuse)
      sent.end()
    })
    expect(first).toMatch(/^retry: \d+\nid: \S+\n\n/)
  })

  it.skipIf(name === 'caddy')('limits what one address may have open', async () => {
    const open: ReturnType<typeof request>[] = []
    const openStream = () =>
      new Promise<number | undefined>((done) => {
        const sent = request(options('/api/v0/location-records/stream'))
        open.push(sent)
        sent.on('response', ({ statusCode }) => done(statusCode))
        sent.on('error', () => done(undefined))
        sent.end()
      })
    // Streams of earlier tests may still be closing, so fewer may be accepted.
    const results: (number | undefined)[] = []
    while (results.at(-1) !== 429 && results.length <= MAX_PER_ADDRESS) {
      results.push(await openStream())
      if (results.at(-1) === undefined) break
    }
    expect(results[0]).toBe(200)
    expect([429, undefined]).toContain(results.at(-1))
    for (const sent of open) sent.destroy()
    await eventually(async () => expect((await send('/health')).status).toBe(200))
  })

  it('ends a connection that sends its headers too slowly', async () => {
    // Less than the default of a minute.
    expect(await slowConnection).toBeLessThan(30_000)
  })
})
