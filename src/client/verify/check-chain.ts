import { readAbi } from '../../attest/abi.ts'
import type { BuiltInChain } from '../../attest/chains.ts'
import { SCHEMA_STRINGS } from '../../attest/schemas.ts'
import { attestTypeHash, domainSeparator } from '../../attest/typed-data.ts'
import type { ChainProfile } from '../../config/chains.ts'
import { bytesToHex, utf8 } from '../../crypto/hex.ts'
import type { Keccak } from '../../crypto/primitives.ts'
import type { ChainAttestation, Hex } from '../../wire/values.ts'
import { type ChainReader, RpcError } from './chain-reader.ts'
import type { Signed } from './check-attestation.ts'
import { type SignedData, timeText } from './signed-data.ts'
import type { StatedSubmission } from './submission.ts'
import type { CheckList } from './verdict.ts'

/** What the checks against the state of a chain have in common. */
interface ChainCheck {
  readonly attested: Attested
  /** The delegation that anyone can submit; undefined for a result that was signed without a nonce. */
  readonly delegated: Signed['delegatedAttestation'] | undefined
  /** The decoded data; undefined when it could not be decoded. */
  readonly data: SignedData | undefined
  /** UID of an attestation that may already be on the chain; undefined for all others. */
  readonly uid: string | undefined
  /** What the response says of its submission, if it says anything. It is not signed. */
  readonly submission: StatedSubmission | undefined
  readonly chain: BuiltInChain
  readonly reader: ChainReader
  readonly keccak: Keccak
  readonly list: CheckList
}

/** The content of an attestation on the chain. */
type Attested = Omit<Signed['attestation'], 'signature'>

/**
 * Checks the attestation against the current state of the chain: adds `rpc`, `contract`, `registered`, `nonce`, `simulation`, and
 * for a proof or a submission `on-chain`.
 *
 * @returns true if it is on the chain: it then needs neither nonce nor deadline (decision 177)
 */
export async function checkOnChain(check: ChainCheck): Promise<boolean> {
  const { chain, reader, list, delegated, submission } = check
  try {
    const id = await reader.chainId()
    if (id !== chain.id) {
      list.fail('rpc', `the RPC serves chain ${id}, the attestation is for ${chain.id}`)
      return false
    }
    list.pass('rpc', `the RPC serves chain ${id}`)
    const isSubmitted = submission?.uid !== undefined
    if (delegated === undefined && !isSubmitted) {
      list.skip('on-chain', 'the result has a signature for contracts, and no attestation to compare with the chain')
      return false
    }
    if (!(await checkContract(check))) return false
    await checkSchema(check)
    if (await checkStored(check)) {
      if (delegated !== undefined) {
        list.skip('nonce', 'not needed: the attestation is on the chain')
        list.skip('simulation', 'not needed: the attestation is on the chain')
      }
      return true
    }
    if (isSubmitted || delegated === undefined) return false
    await checkNonce(check, delegated)
    await simulate(check, delegated)
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    list.fail('rpc', error.message)
  }
  return false
}

/** Checks the contract's EIP-712 domain and layout: if one differs from what was signed, the contract rejects the signature. */
async function checkContract({ chain, reader, keccak, list }: ChainCheck): Promise<boolean> {
  const call = (signature: string) => reader.call(chain.easAddress, calldata(signature, '', keccak))
  const faults: string[] = []
  if ((await call('getDomainSeparator()')) !== `0x${bytesToHex(domainSeparator(chain, keccak))}`) {
    faults.push(
      `the contract at ${chain.easAddress} has another EIP-712 domain than EAS ${chain.easVersion} at this address`,
    )
  }
  if ((await call('getAttestTypeHash()')) !== `0x${bytesToHex(attestTypeHash(chain.profile, keccak))}`) {
    faults.push(`its layout of signed fields is not ${chain.profile}`)
  }
  return list.judge('contract', faults, `EAS ${chain.easVersion} at ${chain.easAddress} accepts this layout`)
}

async function checkSchema({ attested, data, chain, reader, keccak, list }: ChainCheck): Promise<void> {
  const call = calldata('getSchema(bytes32)', paddedWord(attested.schema), keccak)
  const registered = readSchema(await reader.call(chain.schemaRegistryAddress, call))
  const faults: string[] = []
  if (registered === undefined) faults.push('the schema is not registered: EAS rejects attestations under it')
  else if (data !== undefined && withoutSpaces(registered.schema) !== withoutSpaces(SCHEMA_STRINGS[data.kind])) {
    faults.push(
      `the schema is registered as ${JSON.stringify(registered.schema)}, which is not the schema of ${data.kind} data`,
    )
  }
  list.judge('registered', faults, 'the schema is registered for this kind of data')
}

function withoutSpaces(schema: string): string {
  return schema.replace(/,\s+/g, ',').trim()
}

/** Checks whether the attestation is on the chain, with this content. @returns true if so: there is then nothing to submit */
async function checkStored(check: ChainCheck): Promise<boolean> {
  const { submission, chain, reader, keccak, list } = check
  const uid = submission?.uid ?? check.uid
  if (uid === undefined) return false
  const returned = await reader.call(chain.easAddress, calldata('getAttestation(bytes32)', paddedWord(uid), keccak))
  const stored = readAttestation(returned)
  if (stored === undefined) {
    if (submission?.uid === undefined) {
      list.skip(
        'on-chain',
        'no attestation with this UID is on the chain; once submitted, it gets another UID, with the time of its block',
      )
    } else {
      list.fail(
        'on-chain',
        `no attestation with the UID ${uid} of the submission is on the chain: read the state of the submission again, because a reorganisation changes the UID`,
      )
    }
    return false
  }
  const isSame = list.judge(
    'on-chain',
    storedFaults(check, uid, stored),
    `the attestation ${uid} is on the chain, with this content, and is not revoked`,
  )
  return isSame || stored.revocationTimeSeconds > 0
}

/** Compares an attestation on the chain with what was signed. */
function storedFaults({ attested, submission, chain }: ChainCheck, uid: string, stored: ChainAttestation): string[] {
  const faults: string[] = []
  const compare = (name: string, found: unknown, expected: unknown) => {
    const isSame = String(found).toLowerCase() === String(expected).toLowerCase()
    if (!isSame) faults.push(`the attestation ${uid} on the chain has another ${name}`)
  }
  const { schema, recipient, attester, refUID, revocable, data, expirationTime = 0 } = attested
  compare('UID', stored.uid, uid)
  compare('schema', stored.schema, schema)
  compare('recipient', stored.recipient, recipient)
  compare('attester', stored.attester, attester)
  compare('data', stored.data, data)
  compare('refUID', stored.refUID, refUID)
  compare('revocability', stored.revocable, revocable)
  compare('expiration time', stored.expirationTimeSeconds, expirationTime)
  if (submission?.time !== undefined) compare('time', stored.timeSeconds, submission.time)
  if (submission?.chainId !== undefined && submission.chainId !== chain.id)
    faults.push(`the submission names chain ${submission.chainId}`)
  if (stored.revocationTimeSeconds > 0)
    faults.push(`it was revoked on the chain at ${timeText(stored.revocationTimeSeconds)}`)
  return faults
}

type Delegated = Signed['delegatedAttestation']

async function checkNonce(
  { chain, reader, keccak, list, submission }: ChainCheck,
  delegated: Delegated,
): Promise<void> {
  const { attester, nonce } = delegated
  const current = BigInt(
    await reader.call(chain.easAddress, calldata('getNonce(address)', paddedWord(attester), keccak)),
  )
  if (BigInt(nonce) === current) list.pass('nonce', `${nonce} is the attester's current nonce`)
  else if (BigInt(nonce) < current) {
    const advice =
      submission === undefined
        ? 'have the result signed again'
        : 'the service submits the result without it, so read the state of the submission again'
    list.fail('nonce', `${nonce} is used up, the current nonce is ${current}: ${advice}`)
  } else {
    list.fail(
      'nonce',
      `${nonce} is ahead of the current nonce, ${current}: earlier attestations must be submitted first`,
    )
  }
}

async function simulate({ attested, chain, reader, keccak, list }: ChainCheck, delegated: Delegated): Promise<void> {
  const signed = { attestation: attested, delegatedAttestation: delegated }
  try {
    await reader.call(chain.easAddress, attestByDelegation(signed, chain.profile, keccak))
    list.pass('simulation', 'EAS would accept it now')
  } catch (error) {
    if (!(error instanceof RpcError) || !error.isRevert) throw error
    const { revertData, message } = error
    list.fail(
      'simulation',
      `EAS would reject it: ${revertData === undefined ? message : errorName(revertData, keccak)}`,
    )
  }
}

/** Errors of EAS and its registry of schemas; none has arguments. */
const EAS_ERRORS = [
  ...['AccessDenied', 'AlreadyExists', 'AlreadyRevoked', 'AlreadyRevokedOffchain', 'AlreadyTimestamped'],
  ...['DeadlineExpired', 'InsufficientValue', 'InvalidAttestation', 'InvalidAttestations', 'InvalidEAS'],
  ...['InvalidExpirationTime', 'InvalidLength', 'InvalidNonce', 'InvalidOffset', 'InvalidRegistry'],
  ...['InvalidRevocation', 'InvalidRevocations', 'InvalidSchema', 'InvalidSignature', 'InvalidVerifier'],
  ...['Irrevocable', 'NotFound', 'NotPayable', 'WrongSchema'],
]

/**
 * Names the error in the data of a revert: an error of EAS or of the caller's contract, or the text that a contract gave.
 *
 * @param others errors of the caller's contract with their types, such as `Other(uint256)`
 */
export function errorName(revertData: string, keccak: Keccak, others: readonly string[] = []): string {
  const selector = revertData.slice(0, 10).toLowerCase()
  const selectorOf = (signature: string) => calldata(signature, '', keccak)
  const known = [...EAS_ERRORS.map((name) => `${name}()`), ...others]
  const found = known.find((signature) => selectorOf(signature) === selector)
  if (found !== undefined) return found.slice(0, found.indexOf('('))
  const isText = selector === selectorOf('Error(string)')
  const text = isText ? readAbi(`0x${revertData.slice(10)}`, 1, (tuple) => tuple.string()) : undefined
  return text?.ok === true && text.value !== '' ? text.value.slice(0, 100) : `an unknown error (${selector})`
}

/** Encodes the calldata of a function. @param words the arguments: 32-byte words in hex, without `0x` */
export function calldata(signature: string, words: string, keccak: Keccak): Hex {
  return `${keccak.hashHex(utf8(signature)).slice(0, 10)}${words}` as Hex
}

const MESSAGE = '(address,uint64,bool,bytes32,bytes,uint256)'
const DELEGATED: Readonly<Record<'legacy' | 'later', string>> = {
  legacy: `attestByDelegation((bytes32,${MESSAGE},(uint8,bytes32,bytes32),address))`,
  later: `attestByDelegation((bytes32,${MESSAGE},(uint8,bytes32,bytes32),address,uint64))`,
}
const MESSAGE_WORDS = 6

/** Encodes the calldata of `attestByDelegation`. Before EAS 1.2 it has no deadline. */
export function attestByDelegation(
  { attestation, delegatedAttestation }: { readonly attestation: Attested; readonly delegatedAttestation: Delegated },
  profile: ChainProfile,
  keccak: Keccak,
): Hex {
  const { schema, recipient, revocable, refUID, data, expirationTime = 0 } = attestation
  const { signature, attester, deadline } = delegatedAttestation
  const isLegacy = profile === 'legacy'
  const bytes = data.slice(2)
  const message =
    `${paddedWord(recipient)}${uintWord(expirationTime)}${uintWord(revocable ? 1 : 0)}${paddedWord(refUID)}${uintWord(MESSAGE_WORDS * 32)}` +
    `${uintWord(0)}${uintWord(bytes.length / 2)}${bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0')}`
  const headWords = isLegacy ? 6 : 7
  const [r, s, v] = [signature.slice(2, 66), signature.slice(66, 130), signature.slice(130)]
  const head =
    `${paddedWord(schema)}${uintWord(headWords * 32)}${v.padStart(64, '0')}${r}${s}${paddedWord(attester)}` +
    (isLegacy ? '' : uintWord(deadline))
  return calldata(DELEGATED[isLegacy ? 'legacy' : 'later'], `${uintWord(32)}${head}${message}`, keccak)
}

/** Decodes what `getSchema` of a registry returned; undefined when the UID is not registered. @throws {RpcError} */
export function readSchema(returned: Hex): { readonly schema: string; readonly resolver: bigint } | undefined {
  const read = readAbi(afterOffset(returned), 4, (tuple) => ({
    uid: tuple.bytes32(),
    resolver: tuple.uint(160),
    revocable: tuple.bool(),
    schema: tuple.string(),
  }))
  if (!read.ok) throw new RpcError(`getSchema: the return data ${read.reason}`, false)
  return /^0x0{64}$/.test(read.value.uid) ? undefined : read.value
}

/** Decodes what `getAttestation` of EAS returned; undefined when the UID is not on the chain. @throws {RpcError} */
export function readAttestation(returned: Hex): ChainAttestation | undefined {
  const read = readAbi(
    afterOffset(returned),
    10,
    (tuple): ChainAttestation => ({
      uid: tuple.bytes32(),
      schema: tuple.bytes32(),
      timeSeconds: Number(tuple.uint(64)),
      expirationTimeSeconds: Number(tuple.uint(64)),
      revocationTimeSeconds: Number(tuple.uint(64)),
      refUID: tuple.bytes32(),
      recipient: addressText(tuple.uint(160)),
      attester: addressText(tuple.uint(160)),
      revocable: tuple.bool(),
      data: tuple.bytes(),
    }),
  )
  if (!read.ok) throw new RpcError(`getAttestation: the return data ${read.reason}`, false)
  return /^0x0{64}$/.test(read.value.uid) ? undefined : read.value
}

function addressText(value: bigint): Hex {
  return `0x${value.toString(16).padStart(40, '0')}`
}

/** Removes the first word: the offset of the returned dynamic structure. */
function afterOffset(returned: Hex): Hex {
  return `0x${returned.slice(66)}`
}

/** Encodes a whole number as a word of hex, without `0x`. */
export function uintWord(value: number): string {
  return value.toString(16).padStart(64, '0')
}

/** Pads an address or a word to a word of hex, without `0x`. */
export function paddedWord(hex: string): string {
  return hex.slice(2).toLowerCase().padStart(64, '0')
}
