import { BUILT_IN_CHAINS, type BuiltInChain } from '../../attest/chains.ts'
import { DEFAULT_UIDS } from '../../attest/schemas.ts'
import { javascriptKeccak, loadNoble } from '../../crypto/noble.ts'
import type { Hex } from '../../wire/values.ts'
import type { Issuer } from '../answers.ts'
import { findFaults, isObject, JOB_PROOF_FORM, JOB_ROOT_FORM } from '../forms.ts'
import { type ChainReader, createChainReader, rememberCalls } from './chain-reader.ts'
import type { CheckContext } from './check-attestation.ts'
import { refuseInputs } from './check-inputs.ts'
import { checkStamp } from './check-proof.ts'
import type { DataKind } from './signed-data.ts'
import type { JobProof, VerifyResultOptions } from './verdict.ts'
import { CheckList, type ResponseKind, type Verdict } from './verdict.ts'
import { rootIn, verifyMerkleItem, verifyRoot, verifySigned, verifySignedResult } from './verify-signed.ts'

const RPC_TIMEOUT_MS = 10_000

/** Creates the context from the caller's options. @throws {TypeError} on an unknown chain or an invalid attester address */
async function createCheckContext(options: VerifyResultOptions): Promise<CheckContext> {
  const { chainId, issuer } = options
  const knownChains = issuer === undefined ? BUILT_IN_CHAINS : issuerChains(issuer)
  const chains = chainId === undefined ? knownChains : knownChains.filter(({ id }) => id === chainId)
  if (chains.length === 0) {
    throw new TypeError(`chain ${chainId} is not known: pass the issuer that signs for it (client.issuer())`)
  }
  return {
    chains,
    attesters: trustedAttesters(options),
    schemas: knownSchemas(issuer),
    nowSeconds: options.nowSeconds ?? Math.floor(Date.now() / 1000),
    allowExpired: options.allowExpired === true,
    keccak: javascriptKeccak(),
    secp256k1: await loadNoble(),
    reader: createReader(options),
  }
}

function createReader({ rpcUrl, rpcTimeoutMs, fetch: send }: VerifyResultOptions): ChainReader | undefined {
  if (rpcUrl === undefined) return undefined
  return rememberCalls(createChainReader(rpcUrl, rpcTimeoutMs ?? RPC_TIMEOUT_MS, send ?? fetch))
}

function trustedAttesters({ attester, issuer }: VerifyResultOptions): readonly string[] | undefined {
  const given = attester ?? (issuer === undefined ? undefined : [issuer.address, ...issuer.retired])
  if (given === undefined) return undefined
  const addresses = typeof given === 'string' ? [given] : given
  const invalid = addresses.find((address) => !/^0x[0-9a-fA-F]{40}$/.test(address))
  if (invalid !== undefined) throw new TypeError(`attester ${JSON.stringify(invalid)} is not an address`)
  return addresses.map((address) => address.toLowerCase())
}

function issuerChains({ chains }: Issuer): BuiltInChain[] {
  return chains.map(({ chainId, name, profile, easVersion, registry, schemaRegistry }) => ({
    id: chainId,
    name,
    profile,
    easVersion,
    easAddress: registry as Hex,
    schemaRegistryAddress: schemaRegistry as Hex,
  }))
}

function knownSchemas(issuer: Issuer | undefined): ReadonlyMap<string, DataKind> {
  const schemas = new Map<string, DataKind>()
  for (const kind of ['numeric', 'boolean', 'verify', 'merkle-root'] as const) schemas.set(DEFAULT_UIDS[kind], kind)
  for (const { schemas: own } of issuer?.chains ?? []) {
    schemas.set(own.numeric.toLowerCase(), 'numeric')
    schemas.set(own.boolean.toLowerCase(), 'boolean')
    schemas.set(own.verify.toLowerCase(), 'verify')
    schemas.set(own.merkleRoot.toLowerCase(), 'merkle-root')
  }
  return schemas
}

/**
 * Checks a signed response of the service, without contacting the service.
 *
 * Accepts a compute response (with or without `resultSignature`), a match of a point with a set, an item of a batch, a batch, a line of a job, a Merkle root, a
 * re-signed attestation, a verified proof or a stamp; as JSON text or parsed.
 *
 * @param response untrusted; no content of it makes this function throw
 * @returns all checks, and whether the response can be trusted
 * @throws {TypeError} on invalid options
 */
export async function verifyResult(response: unknown, options: VerifyResultOptions = {}): Promise<Verdict> {
  const list = new CheckList()
  let value = response
  if (typeof response === 'string') {
    try {
      value = JSON.parse(response)
    } catch {
      list.fail('form', 'the response is not JSON')
      return list.verdict('unknown')
    }
  }
  const kind = detectKind(value)
  if (!isObject(value) || kind === 'unknown') {
    const isLine = isObject(value) && Array.isArray(value['matches'])
    list.fail(
      'form',
      isLine ? 'is a line of matches: check each of its matches' : 'is not a kind of response that can be checked',
    )
    return list.verdict('unknown')
  }
  const context = await createCheckContext(options)
  if (options.proof !== undefined) return verifyJobLine(value, options.proof, options, context, list)
  switch (kind) {
    case 'stamp':
      await checkStamp(value, context.keccak, context.secp256k1, list)
      refuseInputs(options, 'a stamp has no inputs', list)
      if (context.reader !== undefined) list.skip('rpc', 'a stamp is signed for no chain, so none was asked')
      return list.verdict(kind)
    case 'batch':
      return verifyBatch(value, options, context, list)
    default:
      return verifyAlone(kind, value, options, context, list)
  }
}

/** Checks a response that is one answer, and not many as a batch. */
async function verifyAlone(
  kind: Exclude<ResponseKind, 'stamp' | 'batch' | 'unknown'>,
  value: Record<string, unknown>,
  options: VerifyResultOptions,
  context: CheckContext,
  list: CheckList,
): Promise<Verdict> {
  switch (kind) {
    case 'merkle-item':
      return verifyMerkleItem(value, await verifyRoot(options.merkle, context), options, context, list)
    case 'signed-result':
      return verifySignedResult(value, options, context, list)
    case 'merkle-root': {
      const faults = 'merkle' in value ? findFaults(value, JOB_ROOT_FORM) : []
      if (faults.length === 0) return verifySigned(kind, rootIn(value)!, options, context, list)
      list.fail('form', faults.join('; '))
      return list.verdict(kind)
    }
    default:
      return verifySigned(kind, value, options, context, list)
  }
}

/** Checks a line of a job whose root is signed, with the proof of the line. */
async function verifyJobLine(
  line: Record<string, unknown>,
  given: unknown,
  options: VerifyResultOptions,
  context: CheckContext,
  list: CheckList,
): Promise<Verdict> {
  const faults = findFaults(given, JOB_PROOF_FORM, 'proof.')
  if (detectKind(line) !== 'compute' || 'attestation' in line)
    faults.push('the response is not a line of a job under a root, so the proof given with it is not used')
  if (faults.length > 0) {
    list.fail('form', faults.join('; '))
    return list.verdict('merkle-item')
  }
  const proof = given as JobProof
  const root = await verifyRoot(options.merkle, context)
  return verifyMerkleItem({ ...line, proof: proof.proof }, root, options, context, list, proof)
}

/** Detects the kind of a response by members that only this kind has. */
export function detectKind(value: unknown): ResponseKind {
  if (!isObject(value)) return 'unknown'
  if (Array.isArray(value['results'])) return 'batch'
  if (isObject(value['merkle'])) return 'merkle-root'
  if (Array.isArray(value['signatures']) && 'plugin' in value) return 'stamp'
  if (isObject(value['proof'])) return 'verified-proof'
  if (Array.isArray(value['proof'])) return 'merkle-item'
  if ('leafCount' in value) return 'merkle-root'
  if ('resultSignature' in value && !('attestation' in value)) return 'signed-result'
  if ('operation' in value || 'result' in value || 'feature' in value) return 'compute'
  return 'attestation' in value ? 'attestation' : 'unknown'
}

/** Checks all results of a batch. An item with a problem instead of a result is not a fault. */
async function verifyBatch(
  value: Record<string, unknown>,
  options: VerifyResultOptions,
  context: CheckContext,
  list: CheckList,
): Promise<Verdict> {
  const results = value['results'] as unknown[]
  const { chainId } = value
  const chains = context.chains.filter(({ id }) => id === chainId)
  if (chains.length === 0) {
    list.fail('chain', `chain ${JSON.stringify(chainId)} is not the expected one, or is not known`)
    return list.verdict('batch')
  }
  if (value['attest'] === 'none') {
    list.fail('signature', 'nothing in this batch is signed: its request had attest "none"')
    return list.verdict('batch')
  }
  refuseInputs(options, 'inputs belong to one result: verify an element of results alone, with its inputs', list)
  const { inputs: _, recompute: __, ...common } = options
  const own = { ...context, chains }
  const root = await verifyRoot(options.merkle ?? value, own)
  const faults: string[] = []
  const signers = new Set<string>()
  let rejected = 0
  /** Submissions of single results that were not compared with the chain. */
  let unknownSubmissions = 0
  for (const [index, result] of results.entries()) {
    if (isObject(result) && 'error' in result && !('result' in result)) {
      rejected += 1
      continue
    }
    const verdict = await verifyItem(result, root, common, own)
    if (isObject(result) && 'submission' in result) unknownSubmissions++
    const failed = verdict.checks.find(({ status }) => status === 'fail')
    if (verdict.ok) signers.add(String(verdict.signer))
    else faults.push(`item ${index}: ${failed?.id ?? 'signature'}: ${failed?.detail ?? 'it is not signed'}`)
  }
  if (value['count'] !== results.length)
    faults.push(`count is ${value['count']}, but there are ${results.length} results`)
  if (value['failed'] !== rejected) faults.push(`failed is ${value['failed']}, but ${rejected} items have problems`)
  const validCount = results.length - rejected
  const valid = validCount === 1 ? '1 result is valid' : `${validCount} results are valid`
  const isValid = list.judge(
    'items',
    faults,
    rejected === 0 ? valid : `${valid}; ${rejected} of the items failed and have no result`,
  )
  if (validCount > 0 && isValid) list.pass('signature', `${[...signers].join(' and ')} signed all ${validCount}`)
  else list.fail('signature', isValid ? 'nothing in the batch is signed' : 'not all results are valid')
  if (root !== undefined)
    list.checks.push(...root.verdict.checks.filter(({ id }) => id === 'submission' || isChainCheck(id)))
  else if (isValid && context.reader !== undefined) list.pass('rpc', 'each result was compared with the chain')
  if (unknownSubmissions > 0) {
    list.skip(
      'submission',
      context.reader === undefined
        ? `of ${unknownSubmissions} results is not signed and was not checked: give an RPC of the chain to compare it`
        : `of ${unknownSubmissions} results is not signed; only UIDs, chains and times were compared with the chain`,
    )
  }
  return list.verdict('batch', signers.size === 1 ? { signer: [...signers][0]! } : {})
}

const CHAIN_CHECKS = ['rpc', 'contract', 'registered', 'on-chain', 'nonce', 'simulation']

/** Returns whether a check with this id reads the state of the chain. */
function isChainCheck(id: string): boolean {
  return CHAIN_CHECKS.includes(id)
}

/** Checks one result of a batch, which has an attestation or a proof that leads to the root of the batch. */
async function verifyItem(
  result: unknown,
  root: Awaited<ReturnType<typeof verifyRoot>>,
  options: VerifyResultOptions,
  context: CheckContext,
): Promise<Verdict> {
  const list = new CheckList()
  const kind = detectKind(result)
  if (isObject(result) && kind === 'merkle-item') return verifyMerkleItem(result, root, options, context, list)
  if (isObject(result) && kind === 'compute') return verifySigned(kind, result, options, context, list)
  list.fail('form', 'is not a result of a batch')
  return list.verdict(kind)
}
