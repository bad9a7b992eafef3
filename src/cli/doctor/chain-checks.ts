/** Checks of the chains that have an RPC: contracts, schemas, speed, clock. */
import { type Chain, chainTable } from '../../attest/chains.ts'
import { SCHEMA_KINDS, schemaUids } from '../../attest/schemas.ts'
import { attestTypeHash, domainSeparator } from '../../attest/typed-data.ts'
import type { Config } from '../../config/config.ts'
import { bytesToHex } from '../../crypto/hex.ts'
import { javascriptKeccak } from '../../crypto/noble.ts'
import { easCalls } from '../../sync/chain-access.ts'
import { HttpRpc, parseQuantity, type Rpc, RpcError } from '../../sync/rpc.ts'
import type { Hex } from '../../wire/values.ts'
import { type Check, type DoctorParts, type Finding, fail, ok, readOwnAddress, warn } from './host-checks.ts'

const SLOW_MS = 300
const OLD_BLOCK_SECONDS = 120
const SKEW_SECONDS = 5
const NO_RPC: Finding = {
  status: 'skip',
  detail: 'no RPC is set: nonces are 0, UIDs cannot be resolved, no chain is read',
  remedy: 'set RPC_URL_<chainId> if you need a chain, for example RPC_URL_84532=https://sepolia.base.org',
}

/** Lists the checks of chains. Without an RPC there is only one, which says so. */
export function listChainChecks(config: Config): readonly Check[] {
  const hasRpc = [...chainTable(config).values()].some(({ rpcUrls }) => rpcUrls.length > 0)
  return hasRpc ? CHAIN_CHECKS : [{ id: 'rpc', run: () => NO_RPC }]
}

const CHAIN_CHECKS: readonly Check[] = [
  { id: 'rpc', run: (parts) => checkAllEndpoints(parts, checkRpc) },
  { id: 'contracts', run: (parts) => checkAllEndpoints(parts, checkContracts) },
  { id: 'schemas', run: (parts) => checkAllEndpoints(parts, checkSchemas) },
  { id: 'clock', run: (parts) => checkAllEndpoints(parts, checkClock) },
]

type EndpointCheck = (rpc: Rpc, chain: Chain, parts: DoctorParts, endpointName: string) => Promise<Finding>

/** Checks every endpoint. Reports all findings with the worst status. */
async function checkAllEndpoints(parts: DoctorParts, check: EndpointCheck): Promise<Finding> {
  const { limits } = parts.config
  const endpoints = [...chainTable(parts.config).values()].flatMap((chain) =>
    chain.rpcUrls.map((url, index) => ({ chain, url, index })),
  )
  const findings = await Promise.all(
    endpoints.map(async ({ chain, url, index }) => {
      // Name an endpoint by its number, never by its URL, which may contain a key.
      const endpointName = chain.rpcUrls.length > 1 ? `${chain.name} (endpoint ${index + 1})` : chain.name
      const rpc = new HttpRpc({ url, timeoutMs: limits.syncRpcTimeoutMs, maxResponseBytes: limits.maxRpcResponseBytes })
      try {
        const finding = await check(rpc, chain, parts, endpointName)
        return { ...finding, detail: `${endpointName}: ${finding.detail}` }
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        return fail(
          `${endpointName}: ${error.message}`,
          `correct RPC_URL_${chain.id}, or wait until the endpoint answers`,
        )
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
  const id = parseQuantity(await rpc.request('eth_chainId', []))
  const tookMs = Math.round(performance.now() - startedMs)
  if (id !== chain.id)
    return fail(`serves chain ${id}, not ${chain.id}`, `set RPC_URL_${id}, or another URL for RPC_URL_${chain.id}`)
  const ageSeconds = Math.round(terminal.now() / 1000 - (await blockSeconds(rpc)))
  const summary = `answers in ${tookMs} ms, newest block ${ageSeconds} s old`
  if (ageSeconds > OLD_BLOCK_SECONDS && chain.name !== 'local')
    return warn(summary, `the endpoint is behind: put another one first in RPC_URL_${chain.id}`)
  return tookMs > SLOW_MS
    ? warn(summary, `every signature waits for it: set a faster endpoint for RPC_URL_${chain.id}`)
    : ok(summary)
}

async function checkContracts(rpc: Rpc, chain: Chain, parts: DoctorParts): Promise<Finding> {
  const keccak = javascriptKeccak()
  const domain = await easCalls.domainSeparator(rpc, chain.easAddress)
  const typeHash = await easCalls.attestTypeHash(rpc, chain.easAddress)
  const remedy = `set EAS_ADDRESS_${chain.id} and EAS_VERSION_${chain.id} to those of the deployed contract`
  if (domain !== `0x${bytesToHex(domainSeparator(chain, keccak))}`)
    return fail(`the contract at ${chain.easAddress} is not EAS ${chain.easVersion}`, remedy)
  if (typeHash !== `0x${bytesToHex(attestTypeHash(chain.profile, keccak))}`)
    return fail(`the contract does not accept attestations of profile ${chain.profile}`, remedy)
  const attester = readOwnAddress(parts)
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
  return warn(`not registered: ${missing.join(', ')}; EAS rejects attestations under these schemas`, commands)
}

async function checkClock(rpc: Rpc, chain: Chain, { config, terminal }: DoctorParts): Promise<Finding> {
  const aheadSeconds = Math.round((await blockSeconds(rpc)) - terminal.now() / 1000)
  const remedy = 'set the clock of this machine (timedatectl set-ntp true)'
  if (aheadSeconds > config.limits.maxHeadAheadSeconds)
    return fail(`its head is ${aheadSeconds} s ahead of this clock: the chain is refused`, remedy)
  if (aheadSeconds > SKEW_SECONDS && chain.name !== 'local')
    return warn(`its head is ${aheadSeconds} s ahead of this clock`, remedy)
  return ok(
    aheadSeconds > 0 ? `its head is ${aheadSeconds} s ahead of this clock` : 'its head is not ahead of this clock',
  )
}

async function blockSeconds(rpc: Rpc): Promise<number> {
  const block = (await rpc.request('eth_getBlockByNumber', ['latest', false])) as { timestamp?: unknown } | null
  return parseQuantity(block?.timestamp)
}
