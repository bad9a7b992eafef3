/** nginx and HAProxy with the configuration files of `deploy/`, as processes in front of a test's service. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { eventually } from './eventually.ts'

const deploy = resolve(import.meta.dirname, '../deploy')

const PROGRAMS = { nginx: '/usr/sbin/nginx', haproxy: '/usr/sbin/haproxy' } as const
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
  /** Resolves to every request that the proxy saw. */
  stop(): Promise<readonly ProxiedRequest[]>
}

/**
 * Starts a proxy on 127.0.0.1 without TLS; the configuration file of `deploy/` is otherwise unchanged.
 *
 * @param servicePort port of the service on 127.0.0.1
 */
export async function startProxy(name: ProxyName, servicePort: number): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), `trigpoint-${name}-`))
  const port = await freePort()
  const file = join(folder, name)
  writeFileSync(file, name === 'nginx' ? nginxFile(folder, port, servicePort) : haproxyFile(port, servicePort))
  const args = name === 'nginx' ? ['-p', folder, '-e', 'stderr', '-c', file] : ['-db', '-f', file]
  // A file takes every line of the log; HAProxy drops lines that a full pipe does not take.
  const printed = join(folder, 'printed')
  const output = openSync(printed, 'a')
  const child = spawn(PROGRAMS[name], args, { stdio: ['ignore', output, output] })
  closeSync(output)
  const exited = new Promise<void>((done) => child.on('close', () => done()))
  await eventually(() => accepts(child, port, () => readFileSync(printed, 'utf8')))
  return {
    port,
    async stop() {
      // Both finish pending requests before they end.
      child.kill(name === 'nginx' ? 'SIGQUIT' : 'SIGUSR1')
      await exited
      const log = readFileSync(name === 'nginx' ? join(folder, 'passed') : printed, 'utf8')
      rmSync(folder, { recursive: true, force: true })
      return log
        .split('\n')
        .filter((line) => line.startsWith('passed|'))
        .map((line) => {
          const [, requestId = '', responseId = '', status = ''] = line.split('|')
          return { requestId, responseId, status }
        })
    },
  }
}

/** The shipped file is a part of nginx's `http` block; the other lines are those that an unprivileged nginx needs. */
function nginxFile(folder: string, port: number, servicePort: number): string {
  const server = readFileSync(join(deploy, 'nginx.conf'), 'utf8')
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replaceAll(/^ *ssl_.*\n/gm, '')
    .replace('127.0.0.1:3000', `127.0.0.1:${servicePort}`)
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
function haproxyFile(port: number, servicePort: number): string {
  return readFileSync(join(deploy, 'haproxy.cfg'), 'utf8')
    .replace('global\n', 'global\n  nbthread 1\n  hard-stop-after 15s\n  log stdout format raw daemon\n')
    .replace('  mode http\n', '  mode http\n  log global\n')
    .replace(
      'frontend public\n',
      `frontend public
  http-request capture req.hdr(X-Request-Id) len 64
  capture response header X-Request-Id len 64
  log-format "passed|%[capture.req.hdr(0)]|%[capture.res.hdr(0)]|%ST"
`,
    )
    .replace('maxconn 8000', 'maxconn 500')
    .replace(/bind :443 .*/, `bind 127.0.0.1:${port}`)
    .replace('127.0.0.1:3000', `127.0.0.1:${servicePort}`)
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
