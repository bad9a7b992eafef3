/** A local chain with real EAS contracts of one version, at the addresses that the chain table has for that version. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { type Abi, BaseError, ContractFunctionRevertedError, encodeFunctionData } from 'viem'
import { type Chain, chainTable } from '../../src/attest/chains.ts'
import { readConfig } from '../../src/config/config.ts'
import { findAnvil } from '../../src/local-chain/anvil-process.ts'
import { type CompiledContract, installContract, installEas } from '../../src/local-chain/eas-contracts.ts'
import { MULTICALL3 } from '../../src/sync/eas-attestations.ts'
import { HttpRpc } from '../../src/sync/rpc.ts'
import type { Hex } from '../../src/wire/values.ts'
import { endsWithFile } from '../children.ts'
import { createLocalClient } from './local-client.ts'

// Found from the build too, for the benchmarks.
const root = resolve(import.meta.dirname, import.meta.url.endsWith('.ts') ? '../..' : '../../..')
const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`

/** Version of the contracts → the built-in chain that runs it. */
export const EAS_CHAINS = { '0.26': 42161, '1.2.0': 84532, '1.3.0': 42220 } as const
export type EasVersion = keyof typeof EAS_CHAINS
export const EAS_VERSIONS = Object.keys(EAS_CHAINS) as EasVersion[]

/** The part of a response that is submitted on chain. */
export interface Answer {
  readonly attestation: {
    readonly schema: string
    readonly recipient: string
    readonly data: string
    readonly revocable: boolean
    readonly refUID: string
  }
  readonly delegatedAttestation: { readonly signature: string; readonly attester: string; readonly deadline: number }
}

export interface StoredAttestation {
  readonly uid: Hex
  readonly schema: Hex
  readonly time: bigint
  readonly expirationTime: bigint
  readonly revocationTime: bigint
  readonly refUID: Hex
  readonly recipient: Hex
  readonly attester: Hex
  readonly revocable: boolean
  readonly data: Hex
}

/** Returns the path of the anvil binary; undefined when it is missing, and the on-chain tests are skipped. */
export function anvilBinary(): string | undefined {
  return findAnvil(process.env['PATH'] ?? '')
}

/** Returns why the tests are skipped, for their output. */
export function skipReason(): string | undefined {
  if (anvilBinary() !== undefined) return undefined
  const reason = `no anvil for ${process.platform}-${process.arch}: install the optional development packages`
  process.stderr.write(`on-chain tests skipped: ${reason}\n`)
  return reason
}

export type LocalChain = Awaited<ReturnType<typeof startLocalChain>>

/** Starts anvil on a free port, deploys both contracts and registers our schemas. */
export async function startLocalChain(version: EasVersion) {
  const chain = chainTable(readConfig({}, 1)).get(EAS_CHAINS[version])!
  const { process: child, url } = await startAnvil(chain.id)
  const client = createLocalClient(chain, url)
  const [submitter] = await client.getAddresses()
  const account = submitter!
  const eas = readContract(version, 'EAS')
  const registry = readContract(version, 'SchemaRegistry')
  const rpc = new HttpRpc({ url, timeoutMs: 10_000, maxResponseBytes: 1_048_576 })
  const parts = { rpc, chain, account, timeoutMs: 10_000 }
  await installEas(parts, { eas, registry })

  return {
    version,
    chain,
    url,
    client,
    /** The account that pays for all transactions; never the attester. */
    submitter: account,
    /** Settings for `readConfig` that make a service use this chain. */
    environment: { [`RPC_URL_${chain.id}`]: url },
    registerSchema,
    easAbi: eas.abi,
    /** Calls `attest` from an account of the chain, the submitter's by default. */
    attest,
    getAttestation,
    nonce: (attester: string) => read<bigint>('getNonce', [attester]),
    read,
    submitAnswer,
    submitGroups,
    rejection,
    /** Sends `multiAttest` from the submitter's account without waiting for a block. */
    multiAttest: (requests: readonly object[]) =>
      client.writeContract({
        address: chain.easAddress,
        abi: eas.abi,
        functionName: 'multiAttest',
        args: [requests],
        account,
        chain: null,
        gas: 28_000_000n,
      }),
    installMulticall3: () => installContract(parts, MULTICALL3, multicall3Code()),
    revoke: (schema: Hex, uid: Hex, from?: Hex) => write('revoke', [{ schema, data: { uid, value: 0n } }], from),
    async stop() {
      const ended = new Promise((done) => child.once('exit', done))
      child.kill()
      await ended
    },
  }

  async function registerSchema(schema: string, resolver = ZERO_ADDRESS): Promise<void> {
    const address = chain.schemaRegistryAddress
    const args = [schema, resolver, true]
    const hash = await client.writeContract({
      address,
      abi: registry.abi,
      functionName: 'register',
      args,
      account,
      chain: null,
    })
    await client.waitForTransactionReceipt({ hash })
  }

  async function write(functionName: string, args: readonly unknown[], from = account, gas = 28_000_000n) {
    const call = { address: chain.easAddress, abi: eas.abi, functionName, args }
    // A fixed gas limit: an estimate made before an equal attestation entered the same block would be too low.
    const hash = await client.writeContract({ ...call, account: from, chain: null, gas })
    const receipt = await client.waitForTransactionReceipt({ hash })
    if (receipt.status !== 'success') throw new Error(`${functionName} reverted`)
    return receipt
  }

  async function read<T>(functionName: string, args: readonly unknown[]): Promise<T> {
    return (await client.readContract({ address: chain.easAddress, abi: eas.abi, functionName, args })) as T
  }

  async function attest(
    schema: Hex,
    data: Hex,
    expirationTime = 0n,
    { from = account, recipient = ZERO_ADDRESS, gas = 28_000_000n } = {},
  ): Promise<Hex> {
    const request = {
      recipient,
      expirationTime,
      revocable: true,
      refUID: `0x${'0'.repeat(64)}`,
      data,
      value: 0n,
    }
    const receipt = await write('attest', [{ schema, data: request }], from, gas)
    return receipt.logs[0]!.data.slice(0, 66) as Hex
  }

  function getAttestation(uid: Hex): Promise<StoredAttestation> {
    return read<StoredAttestation>('getAttestation', [uid])
  }

  /** Calls `attestByDelegation` with a response of the service; returns what the contract stored. Throws when it reverts. */
  async function submitAnswer(answer: Answer): Promise<StoredAttestation> {
    const receipt = await write('attestByDelegation', [delegatedRequest(chain, answer)])
    // Attested(address indexed recipient, address indexed attester, bytes32 uid, bytes32 indexed schema)
    return getAttestation(receipt.logs[0]!.data as Hex)
  }

  /** Calls `multiAttestByDelegation` with the groups of a batch; returns what the contract stored, in order. */
  async function submitGroups(groups: readonly DelegatedGroup[]): Promise<StoredAttestation[]> {
    const requests = groups.map(({ schema, data, signatures, attester, deadline }) => ({
      schema,
      data: data.map((item) => ({ ...item, expirationTime: 0n, value: 0n })),
      signatures,
      attester,
      ...(chain.profile === 'legacy' ? {} : { deadline: BigInt(deadline) }),
    }))
    const receipt = await write('multiAttestByDelegation', [requests])
    return Promise.all(receipt.logs.map((log) => getAttestation(log.data as Hex)))
  }

  /** Returns the name of the error with which the contract reverts, `reverted` when it has none, undefined when it accepts. */
  async function rejection(answer: Answer): Promise<string | undefined> {
    try {
      const data = encodeFunctionData({
        abi: eas.abi,
        functionName: 'attestByDelegation',
        args: [delegatedRequest(chain, answer)],
      })
      await client.request({ method: 'eth_call', params: [{ from: account, to: chain.easAddress, data }, 'latest'] })
      return undefined
    } catch (error) {
      return revertName(error, eas.abi)
    }
  }
}

/** One group of `multi` in the response to a batch. */
export interface DelegatedGroup {
  readonly schema: Hex
  readonly data: readonly Record<string, unknown>[]
  readonly signatures: readonly object[]
  readonly attester: string
  readonly deadline: number
}

function delegatedRequest(chain: Chain, { attestation, delegatedAttestation }: Answer) {
  const { r, s, v } = splitSignature(delegatedAttestation.signature as Hex)
  return {
    schema: attestation.schema,
    data: {
      recipient: attestation.recipient,
      expirationTime: 0n,
      revocable: attestation.revocable,
      refUID: attestation.refUID,
      data: attestation.data,
      value: 0n,
    },
    signature: { v, r, s },
    attester: delegatedAttestation.attester,
    ...(chain.profile === 'legacy' ? {} : { deadline: BigInt(delegatedAttestation.deadline) }),
  }
}

function splitSignature(signature: Hex) {
  return {
    r: signature.slice(0, 66) as Hex,
    s: `0x${signature.slice(66, 130)}` as Hex,
    v: Number(`0x${signature.slice(130, 132)}`),
  }
}

/**
 * Returns the name of the error with which a contract reverted, `reverted` when it gave none. Throws any other error: a lost
 * connection must not count as a revert.
 */
export function revertName(error: unknown, abi: Abi): string {
  const found = error instanceof BaseError ? error.walk((cause) => (cause as { code?: number }).code === 3) : undefined
  if (found === null || found === undefined) throw error
  const data = (found as unknown as { data?: Hex }).data
  const reverted = new ContractFunctionRevertedError({
    abi,
    functionName: 'attestByDelegation',
    ...(data ? { data } : {}),
  })
  return reverted.data?.errorName ?? 'reverted'
}

function readContract(version: EasVersion, name: 'EAS' | 'SchemaRegistry'): CompiledContract {
  return JSON.parse(readFileSync(join(root, 'contracts', 'vendor', `eas-${version}`, `${name}.json`), 'utf8'))
}

/** viem contains this code for calls without a deployed contract, but does not export it. */
function multicall3Code(): Hex {
  const viem = createRequire(import.meta.url)
  return viem(join(viem.resolve('viem'), '..', 'constants', 'contracts.js')).multicall3Bytecode
}

async function startAnvil(chainId: number): Promise<{ process: ChildProcess; url: string }> {
  const child = spawn(anvilBinary()!, ['--no-request-size-limit', '--port', '0', '--chain-id', String(chainId)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  endsWithFile(child).stderr.pipe(process.stderr)
  const port = await new Promise<string>((done, refuse) => {
    child.once('exit', (code) => refuse(new Error(`anvil ended with ${code}`)))
    // Keeps reading, because a full pipe would stop the process.
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const match = /^Listening on 127\.0\.0\.1:(\d+)/.exec(line)
      if (match !== null) done(match[1]!)
    })
  })
  return { process: child, url: `http://127.0.0.1:${port}` }
}
