/** nginx, HAProxy and Caddy with the configuration files of `deploy/`, as processes in front of a test's service. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { eventually } from './eventually.ts'

const deploy = resolve(import.meta.dirname, '../deploy')

const PROGRAMS = { nginx: '/usr/sbin/nginx', haproxy: '/usr/sbin/haproxy', caddy: '/usr/bin/caddy' } as const
export type ProxyName = keyof typeof PROGRAMS

/** The proxies that are installed on this machine. Each test file prints a missing one once. */
export const PROXIES: readonly ProxyName[] = (Object.keys(PROGRAMS) as ProxyName[]).filter((name) => {
  const isInstalled = existsSync(PROGRAMS[name])
  if (!isInstalled) console.warn(`skipped: ${PROGRAMS[name]} is not installed (apt-get install ${name})`)
  return isInstalled
})

/** One request as the proxy saw it. */
export interface ProxiedRequest {
  /** Its `X-Request-Id`; `-` or empty when it has none. */
  readonly requestId: string
  /** `X-Request-Id` of the response that the proxy matched with this request; `-` or empty when it has none. */
  readonly responseId: string
  readonly status: string
}

export interface RunningProxy {
  readonly port: number
  /** Port that redirects to the other one, if the proxy has TLS and the file has such a port. */
  readonly redirectPort: number
  /** Resolves to every request that the proxy saw. */
  stop(): Promise<readonly ProxiedRequest[]>
}

export interface ProxyOptions {
  /** PEM files for TLS: the certificate with its key, and the two in files of their own. Without them the proxy has no TLS. */
  readonly tls?: { readonly both: string; readonly certificate: string; readonly key: string }
  /** Limit of the connections of one address; by default more than a test opens. */
  readonly maxPerAddress?: number
}

/** What the test changes in a file of `deploy/`. */
interface Setup extends ProxyOptions {
  readonly folder: string
  readonly port: number
  readonly redirectPort: number
  readonly servicePort: number
}

const FILES: Readonly<Record<ProxyName, (setup: Setup) => string>> = {
  nginx: nginxFile,
  haproxy: haproxyFile,
  caddy: caddyFile,
}
const ARGUMENTS: Readonly<Record<ProxyName, (folder: string, file: string) => string[]>> = {
  nginx: (folder, file) => ['-p', folder, '-e', 'stderr', '-c', file],
  haproxy: (_, file) => ['-db', '-f', file],
  caddy: (_, file) => ['run', '--config', file, '--adapter', 'caddyfile'],
}
/** Signals after which a proxy finishes pending requests and ends. */
const STOP_SIGNALS = { nginx: 'SIGQUIT', haproxy: 'SIGUSR1', caddy: 'SIGTERM' } as const

/**
 * Starts a proxy on 127.0.0.1. The configuration file of `deploy/` is unchanged except for its addresses, and for TLS if there are
 * no certificates.
 *
 * @param servicePort port of the service on 127.0.0.1
 */
export async function startProxy(
  name: ProxyName,
  servicePort: number,
  options: ProxyOptions = {},
): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), `trigpoint-${name}-`))
  const [port, redirectPort] = [await freePort(), await freePort()]
  const file = join(folder, name)
  writeFileSync(file, FILES[name]({ maxPerAddress: 60_000, ...options, folder, port, redirectPort, servicePort }))
  // A file takes every line of the log; HAProxy drops lines that a full pipe does not take.
  const printed = join(folder, 'printed')
  const output = openSync(printed, 'a')
  const child = spawn(PROGRAMS[name], ARGUMENTS[name](folder, file), {
    stdio: ['ignore', output, output],
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  })
  closeSync(output)
  const exited = new Promise<void>((done) => child.on('close', () => done()))
  await eventually(() => accepts(child, port, () => readFileSync(printed, 'utf8')))
  return {
    port,
    redirectPort,
    async stop() {
      child.kill(STOP_SIGNALS[name])
      await exited
      const log = readFileSync(name === 'haproxy' ? printed : join(folder, 'passed'), 'utf8')
      rmSync(folder, { recursive: true, force: true })
      const lines = log.split('\n').filter((line) => line !== '')
      return name === 'caddy'
        ? lines.map(readCaddyLine)
        : lines.filter((line) => line.startsWith('passed|')).map(readLine)
    },
  }
}

function readLine(line: string): ProxiedRequest {
  const [, requestId = '', responseId = '', status = ''] = line.split('|')
  return { requestId, responseId, status }
}

function readCaddyLine(line: string): ProxiedRequest {
  const { request, resp_headers: responseHeaders, status } = JSON.parse(line)
  const idIn = (headers: Record<string, string[]> = {}) => headers['X-Request-Id']?.[0] ?? ''
  return { requestId: idIn(request.headers), responseId: idIn(responseHeaders), status: String(status) }
}

/** Replaces a part of a file of `deploy/`, which has to be there. */
function replaced(text: string, part: string | RegExp, by: string): string {
  const result = text.replaceAll(part, by)
  if (result === text) throw new Error(`there is no ${part} in the file`)
  return result
}

/** The shipped file is a part of nginx's `http` block; the other lines are those that an unprivileged nginx needs. */
function nginxFile({ folder, port, redirectPort, servicePort, tls, maxPerAddress }: Setup): string {
  let server = readFileSync(join(deploy, 'nginx.conf'), 'utf8')
  server = replaced(server, /^ *listen \[::\].*\n/gm, '')
  server = replaced(server, 'listen 80;', `listen 127.0.0.1:${redirectPort};`)
  server = replaced(server, 'listen 443 ssl;', `listen 127.0.0.1:${port}${tls === undefined ? '' : ' ssl'};`)
  server = replaced(server, '127.0.0.1:3000', `127.0.0.1:${servicePort}`)
  server = replaced(server, 'addresses 256', `addresses ${maxPerAddress}`)
  if (tls === undefined) server = replaced(server, /^ *ssl_.*\n/gm, '')
  else {
    server = replaced(server, '/etc/ssl/trigpoint.pem', tls.certificate)
    server = replaced(server, '/etc/ssl/trigpoint.key', tls.key)
  }
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  )
  return `daemon off; worker_processes 1; worker_shutdown_timeout 15s; pid ${folder}/pid; error_log stderr warn;
events { worker_connections 1024; }
http { ${temporary.join(' ')}
log_format passed 'passed|$http_x_request_id|$upstream_http_x_request_id|$upstream_status'; access_log ${folder}/passed passed;
${server}}
`
}

/** HAProxy has one thread here: with two, a line that one logs while the other writes is dropped. */
function haproxyFile({ port, redirectPort, servicePort, tls, maxPerAddress }: Setup): string {
  let text = readFileSync(join(deploy, 'haproxy.cfg'), 'utf8')
  text = replaced(text, 'global\n', 'global\n  nbthread 1\n  hard-stop-after 15s\n  log stdout format raw daemon\n')
  text = replaced(text, '  mode http\n', '  mode http\n  log global\n')
  text = replaced(
    text,
    'frontend public\n',
    `frontend public
  http-request capture req.hdr(X-Request-Id) len 64
  capture response header X-Request-Id len 64
  log-format "passed|%[capture.req.hdr(0)]|%[capture.res.hdr(0)]|%ST"
`,
  )
  text = replaced(text, 'maxconn 8000', 'maxconn 500')
  text = replaced(text, 'gt 256', `gt ${maxPerAddress}`)
  text = replaced(text, '127.0.0.1:3000', `127.0.0.1:${servicePort}`)
  text = replaced(text, 'bind :80', `bind 127.0.0.1:${redirectPort}`)
  const secure = tls === undefined ? '' : ` ssl crt ${tls.both}`
  text = replaced(text, /bind :443 .*/g, `bind 127.0.0.1:${port}${secure}`)
  return tls === undefined ? replaced(text, /^ *http-request redirect .*\n/gm, '') : text
}

/** Caddy has no limit for the connections of one address. */
function caddyFile({ folder, port, servicePort, tls }: Setup): string {
  let text = readFileSync(join(deploy, 'Caddyfile'), 'utf8')
  text = replaced(text, '\tservers {\n', '\tadmin off\n\tauto_https off\n\tgrace_period 15s\n\tservers {\n')
  text = replaced(text, '127.0.0.1:3000', `127.0.0.1:${servicePort}`)
  const address = `${tls === undefined ? 'http' : 'https'}://:${port}`
  const secure = tls === undefined ? '' : `\n\ttls ${tls.certificate} ${tls.key}`
  const log = `\n\tlog {\n\t\toutput file ${folder}/passed\n\t\tformat json\n\t}`
  return replaced(text, 'trigpoint.example {', `${address} {\n\tbind 127.0.0.1${secure}${log}`)
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

function accepts(child: ChildProcess, port: number, log: () => string): Promise<void> {
  if (child.exitCode !== null) throw new Error(`the proxy ended with ${child.exitCode}: ${log()}`)
  return new Promise((done, refuse) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      done()
    })
    socket.on('error', refuse)
  })
}
