/** Checks of the machine: Node.js, native libraries, threads, the kernel, memory. */
import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { loadSecp256k1 } from '../../crypto/secp256k1.ts'
import { selfTestScanner } from '../../geometry/scanned-geometry.ts'
import { loadInstalledUws, uwsFileName } from '../../http/transport/server.ts'
import { startComputePool } from '../../threads/compute-pool.ts'
import { loadKernel } from '../../wasm/loader.ts'
import { selfTestKernel } from '../../wasm/self-test.ts'
import { type Check, type DoctorParts, type Finding, fail, ok, warn } from './finding.ts'

const MINIMUM_NODE = [20, 19] as const
const MIB = 1_048_576
/** Twice the memory of a service with two threads and the embedded database. */
const COMFORTABLE_BYTES = 1024 * MIB

export const MACHINE_CHECKS: readonly Check[] = [
  { id: 'node', run: checkNode },
  { id: 'transport', run: checkTransport },
  { id: 'threads', run: checkThreads },
  { id: 'kernel', run: checkKernel },
  { id: 'memory', run: checkMemory },
  { id: 'open-files', run: checkOpenFiles },
]

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const summary = `Node.js ${process.versions.node}, ${libraryText()}`
  if (major < MINIMUM_NODE[0] || (major === MINIMUM_NODE[0] && minor < MINIMUM_NODE[1])) {
    return fail(summary, `install Node.js ${MINIMUM_NODE.join('.')} or newer: https://nodejs.org`)
  }
  return ok(summary)
}

function libraryText(): string {
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  const version = header?.glibcVersionRuntime
  if (version !== undefined) return `glibc ${version}`
  return process.platform === 'linux' ? 'no glibc (musl): native libraries do not load' : process.platform
}

function checkTransport({ config }: DoctorParts): Finding {
  if (config.httpAdapter === 'node') return ok('HTTP_ADAPTER=node: the HTTP server of Node.js')
  const loaded = loadInstalledUws([config.dataDir])
  if (loaded.ok) return ok(`uWebSockets.js, ${uwsFileName()}, sha256 verified`)
  return warn(
    `${loaded.reason}: the slower HTTP server of Node.js is used`,
    'npm ci (without --omit=optional) on Linux with glibc 2.27 or newer; or set HTTP_ADAPTER=node',
  )
}

async function checkThreads({ config }: DoctorParts): Promise<Finding> {
  const { computeThreads } = config.limits
  if (computeThreads === 0) return ok('COMPUTE_THREADS=0: everything runs on the main thread')
  const startedMs = performance.now()
  const limits = { ...config.limits, computeThreads: 1, largeThreads: 1 }
  const evidence = {
    allowMock: false,
    witnesses: undefined,
    deviceTrust: undefined,
    didKeys: undefined,
    evaluation: config.evaluation,
    pluginUrls: [],
  }
  const modules = {
    compute: () => import('../../../workers/compute.ts'),
    inline: () => import('../../../workers/inline.ts'),
  }
  try {
    const pool = await startComputePool({ ...config, limits }, { chainIds: [], evidence, modules })
    await pool.close()
  } catch (error) {
    return fail(
      `a compute thread does not start: ${(error as Error).message}`,
      'npm run build; or provide more memory if the message says so',
    )
  }
  return ok(`a compute thread started in ${Math.round(performance.now() - startedMs)} ms; ${computeThreads} will run`)
}

async function checkKernel(): Promise<Finding> {
  try {
    const kernel = loadKernel()
    selfTestKernel(kernel)
    selfTestScanner(kernel)
  } catch (error) {
    return fail(
      (error as Error).message,
      'npm run build; if it fails again, this machine computes wrong results: do not sign on it',
    )
  }
  const { backend, library } = await loadSecp256k1()
  const summary = `13 geodesics, an area and 7,172 bit patterns are correct; secp256k1: ${backend} (${library})`
  if (backend === 'system' || backend === 'native') return ok(summary)
  return warn(
    summary,
    'npm ci (without --omit=optional), and install libsecp256k1 (Debian 12: libsecp256k1-1): signs 2 to 15 times as fast',
  )
}

function checkMemory(): Finding {
  const limitBytes = process.constrainedMemory()
  const bytes = limitBytes > 0 && limitBytes < totalmem() ? limitBytes : totalmem()
  const summary = `${Math.round(bytes / MIB).toLocaleString('en-US')} MiB`
  if (bytes >= COMFORTABLE_BYTES) return ok(summary)
  return warn(summary, 'provide 1 GiB, or set COMPUTE_THREADS=1 and RECORDS=0')
}

function checkOpenFiles({ config }: DoctorParts): Finding {
  let limits: string
  try {
    limits = readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ok(`unknown on ${process.platform}`)
  }
  const softLimit = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1] ?? 'unlimited'
  const maxConnections = config.limits.maxConnections
  if (softLimit === 'unlimited' || Number(softLimit) >= maxConnections)
    return ok(`${softLimit} open files, at most ${maxConnections} connections`)
  return warn(
    `${softLimit} open files, but MAX_CONNECTIONS allows ${maxConnections} connections`,
    `ulimit -n ${Math.max(65_536, maxConnections)} (LimitNOFILE= of a unit), or MAX_CONNECTIONS=${Math.max(1, Number(softLimit) - 200)}`,
  )
}
