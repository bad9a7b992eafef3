import { createHash, type KeyObject } from 'node:crypto'
import type { DeviceTrust } from '../../messages.ts'
import type { CheckCollector, PluginContext } from '../plugin.ts'
import { signalOf } from '../signals.ts'
import { base64Bytes, commitmentsOf, isFileShown } from './attested-message.ts'
import { CborError, type CborMap, type CborValue, readCbor } from './cbor.ts'
import { verifyChain } from './chain.ts'
import { childrenOf, DerError, expectTag, OCTET_STRING, readDer, SEQUENCE } from './der.ts'
import { anchorsOf, revokedOf } from './trust.ts'

/** Bytes of one attestation object; most of it is a receipt for Apple's own servers, which is not read. */
const MAX_BYTES = 32_768
/** Extension in which Apple writes the nonce. */
const NONCE = '1.2.840.113635.100.8.2'

export interface AppAttestation {
  /** Leaf first; Apple leaves the root out. */
  readonly certificates: readonly Uint8Array[]
  readonly authenticatorData: Uint8Array
  readonly rpIdHash: Uint8Array
  readonly counter: number
  readonly environment: 'production' | 'development' | 'unknown'
  readonly credentialId: Uint8Array
}

/** What can be told of an Apple device that attested. */
export interface AppAttestFacts {
  readonly environment: AppAttestation['environment']
  readonly boundBy: string
}

/**
 * @param bytes of an attestation object of App Attest
 * @throws {CborError} on any other
 * @see https://developer.apple.com/documentation/devicecheck/validating-apps-that-connect-to-your-server
 */
export function readAppAttestation(bytes: Uint8Array): AppAttestation {
  const object = mapOf(readCbor(bytes))
  if (object.get('fmt') !== 'apple-appattest') throw new CborError('another format than apple-appattest')
  const chain = mapOf(object.get('attStmt')).get('x5c')
  const data = bytesOf(object.get('authData'))
  if (!Array.isArray(chain)) throw new CborError('no certificates')
  // rpIdHash 32, flags 1, counter 4, aaguid 16, length of the credential's identifier 2, and the identifier.
  if (data.length < 55) throw new CborError('authenticator data that is too short')
  const view = new DataView(data.buffer, data.byteOffset, data.length)
  const credentialId = data.subarray(55, 55 + view.getUint16(53))
  if (credentialId.length !== view.getUint16(53)) throw new CborError('authenticator data that ends within')
  const aaguid = Buffer.from(data.subarray(37, 53)).toString('latin1')
  return {
    certificates: chain.map(bytesOf),
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
 * App Attest where the stamp brings it: a chain to Apple's root, that it attests this key of a known app, and that it was
 * made for this stamp.
 *
 * @returns undefined when the stamp brings none, or none that could be read and was made for this stamp
 */
export function checkAppAttest(
  context: PluginContext,
  trust: DeviceTrust,
  checks: CheckCollector,
): AppAttestFacts | undefined {
  const { signals, stamp } = context
  const sent = signalOf(signals, 'DeviceCheck.Attestation')
  if (sent === undefined) return undefined
  const attestation = parse(sent, checks)
  if (attestation === undefined) return undefined
  const chain = verifyChain(attestation.certificates, {
    anchors: anchorsOf('apple', trust.appleRoots),
    atSeconds: stamp.temporalFootprint.start,
    revokedSerials: revokedOf(trust),
  })
  if (!checks.fail('app-attest-chain', chain.ok, chain.ok ? attestation.certificates.length : chain.reason, 'root'))
    return
  if (!chain.ok) return
  const leaf = chain.certificates[0]!
  const keyId = createHash('sha256').update(pointOf(leaf.publicKey)).digest()
  checks.fail('app-attest-key', keyId.equals(attestation.credentialId), keyId.toString('base64'), 'credentialId')
  const named = signalOf(signals, 'DeviceCheck.KeyId')
  if (named !== undefined) {
    const isSame = base64Bytes(named, 64)?.equals(keyId) === true
    checks.fail('app-attest-key-id', isSame, typeof named === 'string' ? named : typeof named, keyId.toString('base64'))
  }
  checkApp(attestation, trust, checks)
  const nonce = nonceOf(leaf.extensions.get(NONCE))
  const commitment = commitmentsOf(context).find(({ bytes }) => {
    const wanted = createHash('sha256').update(attestation.authenticatorData).update(bytes).digest()
    return nonce !== undefined && wanted.equals(nonce)
  })
  if (commitment?.covers === 'file') {
    checks.warn('app-attest-covers-location', false, commitment.by, 'the whole stamp')
    return isFileShown(context) ? { environment: attestation.environment, boundBy: commitment.by } : undefined
  }
  checks.fail('app-attest-binding', commitment !== undefined, commitment?.by ?? 'another nonce', 'this stamp')
  return commitment && { environment: attestation.environment, boundBy: commitment.by }
}

function parse(sent: unknown, checks: CheckCollector): AppAttestation | undefined {
  const bytes = base64Bytes(sent, MAX_BYTES)
  try {
    if (bytes === undefined) throw new CborError(`no base64 of at most ${MAX_BYTES} bytes`)
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

/** SEQUENCE { [1] OCTET STRING } */
function nonceOf(extension: Uint8Array | undefined): Uint8Array | undefined {
  if (extension === undefined) return undefined
  try {
    const [wrapper] = childrenOf(expectTag(readDer(extension), SEQUENCE))
    if (wrapper?.tagClass !== 2 || wrapper.tag !== 1) return undefined
    return expectTag(childrenOf(wrapper)[0], OCTET_STRING).content
  } catch (error) {
    if (error instanceof DerError) return undefined
    throw error
  }
}

/** An elliptic key as 04‖x‖y; nothing for another kind. */
function pointOf(key: KeyObject): Buffer {
  if (key.asymmetricKeyType !== 'ec') return Buffer.alloc(0)
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  return Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
}

function mapOf(value: CborValue | undefined): CborMap {
  if (!(value instanceof Map)) throw new CborError('a map was expected')
  return value as CborMap
}

function bytesOf(value: CborValue | undefined): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new CborError('a byte string was expected')
  return value
}
