/** `npm start -- --chain` as a separate process, with functions that act on its chain. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { type Abi, encodeAbiParameters, encodeFunctionData, parseAbiParameters } from 'viem'
import { SCHEMA_STRINGS, schemaUids } from '../src/attest/schemas.ts'
import { readConfig } from '../src/config/config.ts'
import type { Hex } from '../src/wire/values.ts'
import { endsWithFile } from './children.ts'
import { nodeFlags } from './node-flags.ts'

const root = resolve(import.meta.dirname, '..')
const EAS: Hex = '0x4200000000000000000000000000000000000021'
const ZERO_UID: Hex = `0x${'0'.repeat(64)}`
const { abi } = JSON.parse(readFileSync(join(root, 'contracts/vendor/eas-1.2.0/EAS.json'), 'utf8')) as { abi: Abi }

export const EAS_ABI = abi
export const LOCATION_SCHEMA = schemaUids(readConfig({}, 1)).location

export interface ChainService {
  readonly process: ChildProcess
  /** The lines it printed when it was ready. */
  readonly facts: Readonly<Record<string, string>>
  readonly lines: readonly string[]
  /** Process id of the chain. */
  readonly chainPid: number
  /** @returns the response to `GET` of a path */
  // biome-ignore lint/suspicious/noExplicitAny: a response may have any members; the tests check them
  get(path: string): Promise<any>
  /** Sends `POST` with a developer's key. @returns the response */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  post(path: string, body: unknown): Promise<any>
  // biome-ignore lint/suspicious/noExplicitAny: as above
  rpc(method: string, ...params: unknown[]): Promise<any>
  /** Sends a transaction of a test account to EAS and waits until it is mined. */
  send(from: string, functionName: string, args: readonly unknown[]): Promise<{ logs: { data: Hex }[]; status: string }>
  /** Attests a point. @returns its UID */
  attest(from: string, longitude: number, latitude: number): Promise<Hex>
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>
}

/** Runs the start command until it ends. */
export async function runToEnd(flags: readonly string[], environment: Readonly<Record<string, string>>, first = '') {
  const script = `${first};import("./dist/src/main.js").then((m) => m.main(${JSON.stringify(flags)}))`
  const child = spawn(process.execPath, ['-e', script], {
    cwd: root,
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr.on('data', (data) => {
    output += data
  })
  const code = await new Promise<number | null>((done) => child.on('close', done))
  return { code, output }
}

export async function startChainService(
  dataDir: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<ChainService> {
  const child = spawn(process.execPath, [...nodeFlags(root), 'scripts/start.mjs', '--chain'], {
    cwd: root,
    env: {
      ...{ PATH: process.env['PATH'], PORT: '0', LOCAL_CHAIN_PORT: '0', DATA_DIR: dataDir, LOG_FORMAT: 'json' },
      ...{ RATE_LIMIT_PUBLIC: '1000000', ...environment },
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  endsWithFile(child)
  const exited = new Promise<number | NodeJS.Signals>((done) => {
    child.on('exit', (code, signal) => done(code ?? signal ?? 1))
  })
  const lines: string[] = []
  const facts = await new Promise<Record<string, string>>((done, refuse) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line)
      if (line.includes('"event":"ready"')) done(JSON.parse(line))
    })
    void exited.then((code) => refuse(new Error(`the service ended with ${code}:\n${lines.join('\n')}`)))
  })
  const note = JSON.parse(readFileSync(join(dataDir, 'local-chain/anvil.json'), 'utf8')) as { pid: number }
  return {
    process: child,
    facts,
    lines,
    chainPid: note.pid,
    get: async (path) => (await fetch(`${facts['url']}${path}`)).json(),
    async post(path, body) {
      const headers = { 'content-type': 'application/json', 'x-api-key': facts['developerKey']! }
      return (await fetch(`${facts['url']}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json()
    },
    rpc,
    send,
    async attest(from, longitude, latitude) {
      const location = JSON.stringify({ type: 'Point', coordinates: [longitude, latitude] })
      const data = encodeAbiParameters(parseAbiParameters(SCHEMA_STRINGS.location), [
        ...([1_790_000_000n, 'EPSG:4326', 'geojson-point', location, [], [], [], [], 'here'] as const),
      ])
      const request = { recipient: from, expirationTime: 0n, revocable: true, refUID: ZERO_UID, data, value: 0n }
      const receipt = await send(from, 'attest', [{ schema: LOCATION_SCHEMA, data: request }])
      return receipt.logs[0]!.data
    },
    async end(signal) {
      child.kill(signal)
      return exited
    },
  }

  async function send(from: string, functionName: string, args: readonly unknown[]): ReturnType<ChainService['send']> {
    const data = encodeFunctionData({ abi, functionName, args })
    const hash = await rpc('eth_sendTransaction', { from, to: EAS, data })
    for (;;) {
      const receipt = await rpc('eth_getTransactionReceipt', hash)
      if (receipt !== null) return receipt
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  async function rpc(method: string, ...params: unknown[]): Promise<any> {
    const response = await fetch(facts['rpcUrl']!, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }
}

/** Whether a process runs. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
