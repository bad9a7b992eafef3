/** The chains that have an RPC: contracts, schemas, speed, clock. */
import { join } from 'node:path'
import { type Chain, chainTable } from '../../attest/chains.ts'
import { SCHEMA_KINDS, schemaUids } from '../../attest/schemas.ts'
import { attestTypeHash, domainSeparator } from '../../attest/typed-data.ts'
import { bytesToHex } from '../../crypto/hex.ts'
import { javascriptKeccak } from '../../crypto/keccak-javascript.ts'
import type { Hex } from '../../messages.ts'
import { easCalls } from '../../sync/eas-calls.ts'
import { createRpc, type Rpc, RpcError } from '../../sync/rpc.ts'
import { type Check, type DoctorParts, type Finding, fail, ok, skip, warn } from './finding.ts'
import { addressOf } from './place-checks.ts'

const SLOW_MS = 300
const OLD_BLOCK_SECONDS = 120
const SKEW_SECONDS = 5
const NO_RPC = 'no RPC is set (RPC_URL_<chainId>): nonces are 0, UIDs are not looked up, nothing is read'

export const CHAIN_CHECKS: readonly Check[] = [
  { id: 'rpc', run: (parts) => overChains(parts, checkRpc) },
  { id: 'contracts', run: (parts) => overChains(parts, checkContracts) },
  { id: 'schemas', run: (parts) => overChains(parts, checkSchemas) },
  { id: 'clock', run: (parts) => overChains(parts, checkClock) },
]

type ChainCheck = (rpc: Rpc, chain: Chain, parts: DoctorParts, place: string) => Promise<Finding>

/** Asks every endpoint; of several findings the worst counts, and all are told. */
async function overChains(parts: DoctorParts, check: ChainCheck): Promise<Finding> {
  const { limits } = parts.config
  const endpoints = [...chainTable(parts.config).values()].flatMap((chain) =>
    chain.rpcUrls.map((url, index) => ({ chain, url, index })),
  )
  if (endpoints.length === 0) return skip(NO_RPC)
  const findings = await Promise.all(
    endpoints.map(async ({ chain, url, index }) => {
      // By its place, never by its address, which may hold a key.
      const place = chain.rpcUrls.length > 1 ? `${chain.name} (endpoint ${index + 1})` : chain.name
      const rpc = createRpc({ url, timeoutMs: limits.syncRpcTimeoutMs, maxResponseBytes: limits.maxRpcResponseBytes })
      try {
        const finding = await check(rpc, chain, parts, place)
        return { ...finding, detail: `${place}: ${finding.detail}` }
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        return fail(`${place}: ${error.message}`, `correct RPC_URL_${chain.id}, or wait until that endpoint answers`)
      }
    }),
  )
  const worst =
    (['fail', 'warn', 'ok'] as const).find((status) => findings.some((finding) => finding.status === status)) ?? 'skip'
  const remedies = new Set(findings.flatMap(({ remedy }) => (remedy === undefined ? [] : [remedy])))
  const detail = findings.map((finding) => finding.detail).join('; ')
  return { status: worst, detail, ...(remedies.size === 0 ? {} : { remedy: [...remedies].join('; ') }) }
}

async function checkRpc(rpc: Rpc, chain: Chain, { terminal }: DoctorParts): Promise<Finding> {
  const startedMs = performance.now()
  const id = Number(await rpc.request('eth_chainId', []))
  const tookMs = Math.round(performance.now() - startedMs)
  if (id !== chain.id)
    return fail(`serves chain ${id}, not ${chain.id}`, `set RPC_URL_${id}, or another address for RPC_URL_${chain.id}`)
  const ageSeconds = Math.round(terminal.now() / 1000 - (await blockSeconds(rpc)))
  const found = `answers in ${tookMs} ms, newest block ${ageSeconds} s old`
  if (ageSeconds > OLD_BLOCK_SECONDS && chain.name !== 'local')
    return warn(found, `the endpoint is behind: put another one before it in RPC_URL_${chain.id}`)
  return tookMs > SLOW_MS
    ? warn(found, `every nonce waits for it: a nearer endpoint for RPC_URL_${chain.id}`)
    : ok(found)
}

async function checkContracts(rpc: Rpc, chain: Chain, { config }: DoctorParts): Promise<Finding> {
  const keccak = javascriptKeccak()
  const domain = await easCalls.domainSeparator(rpc, chain.easAddress)
  const typeHash = await easCalls.attestTypeHash(rpc, chain.easAddress)
  const remedy = `set EAS_ADDRESS_${chain.id} and EAS_VERSION_${chain.id} to the contract that is there`
  if (domain !== `0x${bytesToHex(domainSeparator(chain, keccak))}`)
    return fail(`the contract at ${chain.easAddress} is not EAS ${chain.easVersion}`, remedy)
  if (typeHash !== `0x${bytesToHex(attestTypeHash(chain.profile, keccak))}`)
    return fail(`it takes another structure than ${chain.profile}`, remedy)
  const attester = addressOf(join(config.dataDir, 'dev-signer.json'))
  const nonce = attester === undefined ? '' : `, nonce ${await easCalls.nonce(rpc, chain.easAddress, attester as Hex)}`
  return ok(`EAS ${chain.easVersion} (${chain.profile}) at ${chain.easAddress}${nonce}`)
}

async function checkSchemas(rpc: Rpc, chain: Chain, { config }: DoctorParts): Promise<Finding> {
  const uids = schemaUids(config)
  const missing: string[] = []
  for (const kind of SCHEMA_KINDS) {
    const { uid } = await easCalls.schema(rpc, chain.schemaRegistryAddress, uids[kind])
    if (BigInt(uid) === 0n) missing.push(kind)
  }
  if (missing.length === 0) return ok(`all ${SCHEMA_KINDS.length} are registered`)
  const commands = missing.map((kind) => `trigpoint schema register ${kind} --rpc … --key …`).join(', ')
  return warn(`not registered: ${missing.join(', ')}: EAS takes no attestation under them`, commands)
}

async function checkClock(rpc: Rpc, chain: Chain, { config, terminal }: DoctorParts): Promise<Finding> {
  const ahead = Math.round((await blockSeconds(rpc)) - terminal.now() / 1000)
  const remedy = 'set the clock of this machine (timedatectl set-ntp true)'
  if (ahead > config.limits.maxHeadAheadSeconds)
    return fail(`its head is ${ahead} s ahead of this clock: the chain is refused`, remedy)
  if (ahead > SKEW_SECONDS && chain.name !== 'local') return warn(`its head is ${ahead} s ahead of this clock`, remedy)
  return ok(ahead > 0 ? `its head is ${ahead} s ahead of this clock` : 'its head is not ahead of this clock')
}

async function blockSeconds(rpc: Rpc): Promise<number> {
  const block = (await rpc.request('eth_getBlockByNumber', ['latest', false])) as { timestamp?: unknown } | null
  const seconds = Number(block?.timestamp)
  if (!Number.isFinite(seconds)) throw new RpcError('eth_getBlockByNumber: a block without a time')
  return seconds
}
