import { createHash, type KeyObject } from 'node:crypto'
import type { DeviceTrust } from '../../wire/compute-messages.ts'
import type { CheckCollector, PluginContext } from '../plugin.ts'
import { readSignal } from '../signals.ts'
import { decodeBase64, isFileSent, listCommitments } from './attested-message.ts'
import { CborError, type CborMap, type CborValue, readCbor } from './cbor.ts'
import { verifyChain } from './chain.ts'
import { DerError, expectTag, OCTET_STRING, readChildren, readDer, SEQUENCE } from './der.ts'
import { revokedSerialSet, trustAnchors } from './trust.ts'

/** The largest attestation object. Most of it is a receipt for Apple's servers, which is ignored here. */
const MAX_BYTES = 32_768
/** The extension that holds the nonce. */
const NONCE = '1.2.840.113635.100.8.2'

/** The parts of an App Attest attestation object. */
export interface AppAttestation {
  /** Leaf first; Apple leaves the root out. */
  readonly certificates: readonly Uint8Array[]
  readonly authenticatorData: Uint8Array
  readonly rpIdHash: Uint8Array
  readonly counter: number
  readonly environment: 'production' | 'development' | 'unknown'
  readonly credentialId: Uint8Array
}

/** The facts that are reported about an Apple device that attested. */
export interface AppAttestFacts {
  readonly environment: AppAttestation['environment']
  readonly boundBy: string
}

/**
 * Reads an App Attest attestation object.
 *
 * @param bytes of the object
 * @throws {CborError} on anything else
 * @see https://developer.apple.com/documentation/devicecheck/validating-apps-that-connect-to-your-server
 */
export function readAppAttestation(bytes: Uint8Array): AppAttestation {
  const object = expectMap(readCbor(bytes))
  if (object.get('fmt') !== 'apple-appattest') throw new CborError('the format is not apple-appattest')
  const chain = expectMap(object.get('attStmt')).get('x5c')
  const data = expectBytes(object.get('authData'))
  if (!Array.isArray(chain)) throw new CborError('there are no certificates')
  // Layout in bytes: rpIdHash 32, flags 1, counter 4, aaguid 16, length of the credential identifier 2, then the
  // identifier.
  if (data.length < 55) throw new CborError('the authenticator data is too short')
  const view = new DataView(data.buffer, data.byteOffset, data.length)
  const credentialId = data.subarray(55, 55 + view.getUint16(53))
  if (credentialId.length !== view.getUint16(53)) throw new CborError('the authenticator data is truncated')
  const aaguid = Buffer.from(data.subarray(37, 53)).toString('latin1')
  return {
    certificates: chain.map(expectBytes),
    authenticatorData: data,
    rpIdHash: data.subarray(0, 32),
    counter: view.getUint32(33),
    environment: ENVIRONMENTS.get(aaguid) ?? 'unknown',
    credentialId,
  }
}

const ENVIRONMENTS: ReadonlyMap<string, AppAttestation['environment']> = new Map([
  ['appattest\0\0\0\0\0\0\0', 'production'],
  ['appattestdevelop', 'development'],
])

/**
 * Checks an App Attest attestation, if the stamp has one: its chain to Apple's root, its key, its app, and whether it
 * was made for this stamp.
 *
 * @returns undefined when there is none, when it cannot be read, or when it was not made for this stamp
 */
export function checkAppAttest(
  context: PluginContext,
  trust: DeviceTrust,
  checks: CheckCollector,
): AppAttestFacts | undefined {
  const { signals, stamp } = context
  const sent = readSignal(signals, 'DeviceCheck.Attestation')
  if (sent === undefined) return undefined
  const attestation = parse(sent, checks)
  if (attestation === undefined) return undefined
  const chain = verifyChain(attestation.certificates, {
    anchors: trustAnchors('apple', trust.appleRoots),
    atSeconds: stamp.temporalFootprint.start,
    revokedSerials: revokedSerialSet(trust),
  })
  if (!checks.fail('app-attest-chain', chain.ok, chain.ok ? attestation.certificates.length : chain.reason, 'root'))
    return
  if (!chain.ok) return
  const leaf = chain.certificates[0]!
  const keyId = createHash('sha256').update(uncompressedPoint(leaf.publicKey)).digest()
  checks.fail('app-attest-key', keyId.equals(attestation.credentialId), keyId.toString('base64'), 'credentialId')
  const claimedKeyId = readSignal(signals, 'DeviceCheck.KeyId')
  if (claimedKeyId !== undefined) {
    const isSame = decodeBase64(claimedKeyId, 64)?.equals(keyId) === true
    checks.fail(
      'app-attest-key-id',
      isSame,
      typeof claimedKeyId === 'string' ? claimedKeyId : typeof claimedKeyId,
      keyId.toString('base64'),
    )
  }
  checkApp(attestation, trust, checks)
  const nonce = readNonce(leaf.extensions.get(NONCE))
  const commitment = listCommitments(context).find(({ bytes }) => {
    const expected = createHash('sha256').update(attestation.authenticatorData).update(bytes).digest()
    return nonce !== undefined && expected.equals(nonce)
  })
  if (commitment?.covers === 'file') {
    checks.warn('app-attest-covers-location', false, commitment.by, 'the whole stamp')
    return isFileSent(context) ? { environment: attestation.environment, boundBy: commitment.by } : undefined
  }
  checks.fail('app-attest-binding', commitment !== undefined, commitment?.by ?? 'another nonce', 'this stamp')
  return commitment && { environment: attestation.environment, boundBy: commitment.by }
}

function parse(sent: unknown, checks: CheckCollector): AppAttestation | undefined {
  const bytes = decodeBase64(sent, MAX_BYTES)
  try {
    if (bytes === undefined) throw new CborError(`must be base64 of at most ${MAX_BYTES} bytes`)
    const attestation = readAppAttestation(bytes)
    checks.fail('app-attest-form', true, bytes.length, MAX_BYTES)
    return attestation
  } catch (error) {
    if (!(error instanceof CborError)) throw error
    checks.fail('app-attest-form', false, error.message, 'attestation object')
    return undefined
  }
}

function checkApp(
  { rpIdHash, counter, environment }: AppAttestation,
  trust: DeviceTrust,
  checks: CheckCollector,
): void {
  checks.fail('app-attest-counter', counter === 0, counter, 0)
  const isAllowed = environment === 'production' || (environment === 'development' && trust.allowDevelopmentApps)
  checks.fail('app-attest-environment', isAllowed, environment, trust.allowDevelopmentApps ? 'any' : 'production')
  const app = trust.appleAppIds.find((id) => createHash('sha256').update(id).digest().equals(rpIdHash))
  if (trust.appleAppIds.length === 0) checks.warn('app-attest-app', false, null, 'no app is configured')
  else checks.fail('app-attest-app', app !== undefined, app ?? null, 'an app of the operator')
}

/** Reads the nonce: SEQUENCE { [1] OCTET STRING }. */
function readNonce(extension: Uint8Array | undefined): Uint8Array | undefined {
  if (extension === undefined) return undefined
  try {
    const [wrapper] = readChildren(expectTag(readDer(extension), SEQUENCE))
    if (wrapper?.tagClass !== 2 || wrapper.tag !== 1) return undefined
    return expectTag(readChildren(wrapper)[0], OCTET_STRING).content
  } catch (error) {
    if (error instanceof DerError) return undefined
    throw error
  }
}

/** Returns an elliptic-curve key as 04‖x‖y; empty for other kinds of key. */
function uncompressedPoint(key: KeyObject): Buffer {
  if (key.asymmetricKeyType !== 'ec') return Buffer.alloc(0)
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  return Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
}

function expectMap(value: CborValue | undefined): CborMap {
  if (!(value instanceof Map)) throw new CborError('expected a map')
  return value as CborMap
}

function expectBytes(value: CborValue | undefined): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new CborError('expected a byte string')
  return value
}
