import { checkGeodesicEdges } from '../src/compute/measurable.ts'
import type { Engine } from '../src/compute/run.ts'
import { checkInterior, poleOf } from '../src/compute/validity.ts'
import { loadEd25519 } from '../src/crypto/ed25519.ts'
import type { Secp256k1 } from '../src/crypto/secp256k1.ts'
import { distanceMeters } from '../src/geodesy/distance.ts'
import { canonicalBytes } from '../src/geometry/canonical.ts'
import type { FormatLimits } from '../src/geometry/format-budget.ts'
import { readLocationText } from '../src/geometry/location-text.ts'
import { readGeometry } from '../src/geometry/read.ts'
import type { ComputeWorkerData, Hex } from '../src/messages.ts'
import { problemAt } from '../src/problem.ts'
import type { CredibilityVector, LocationStamp, VerifyProofRequest } from '../src/types/generated.ts'
import type { parseJsonObject } from '../src/validation/json-body.ts'
import { readStampRequest } from '../src/validation/verify-request.ts'
import { assessProof } from '../src/verify/credibility.ts'
import { base64Bytes } from '../src/verify/device/attested-message.ts'
import { StampMessages } from '../src/verify/message.ts'
import type { VerifyConfig } from '../src/verify/plugin.ts'
import { findPlugin, pluginsOf } from '../src/verify/plugin-table.ts'
import { type ReadStamp, type StampVerdict, type VerifyEngine, verifyStamp } from '../src/verify/stamp.ts'

type Limits = ComputeWorkerData['limits']
type Path = readonly (string | number)[]
type Body = ReturnType<typeof parseJsonObject>

/** A claim or a stamp. */
type Located = Pick<LocationStamp, 'location' | 'locationType'>

/** What this file adds to the engine of `src/verify`: reading geometries within the limits. */
export interface VerifyRunner extends VerifyEngine {
  /** @param path of the location */
  readLocation(of: Located, path: Path): ReadStamp['geometry']
}

/** Judges evidence by the kernel's geodesy and this thread's cryptography. */
export async function createVerifyEngine(
  engine: Engine & { readonly limits: FormatLimits },
  config: VerifyConfig,
  secp256k1: Secp256k1,
): Promise<VerifyRunner> {
  const { kernel, keccak, limits } = engine
  return {
    crypto: {
      keccak,
      secp256k1,
      ed25519: await loadEd25519(),
      ...(config.didKeys && { didKeys: config.didKeys }),
    },
    config,
    distanceMeters: (a, b) => distanceMeters(kernel, a, b, limits.maxDistanceSolves),
    pointOf: (lon, lat) => readGeometry({ type: 'Point', coordinates: [lon, lat] }, [], limits),
    readLocation({ location, locationType }, path) {
      const geometry = typeof location === 'string' ? readLocationText(locationType, location, path, limits) : location
      const flat = readGeometry(geometry, path, limits)
      // Its distances are measured.
      checkInterior(flat, path, kernel, { maxSolves: limits.maxDistanceSolves })
      checkGeodesicEdges(flat, path, poleOf(kernel), 'verification')
      return flat
    },
  }
}

/** @throws {ProblemError} where the stamp is malformed or of a kind that nobody here knows */
export async function judgeStamp(
  body: Body,
  nowSeconds: number,
  engine: VerifyRunner,
  limits: Limits,
): Promise<StampVerdict> {
  const { stamp } = readStampRequest(body, limits.maxCollectionDepth)
  requireCanonical(stamp.signatures, ['stamp', 'signatures'])
  const media = readMedia(body['media'] as string | undefined)
  return verifyStamp({ ...readStamp(stamp, ['stamp'], engine), media }, nowSeconds, engine)
}

/** @param text whose size is bounded by that of a body */
function readMedia(text: string | undefined): Uint8Array | undefined {
  if (text === undefined) return undefined
  const bytes = base64Bytes(text, text.length)
  if (bytes !== undefined) return bytes
  throw problemAt('invalid-input', ['media'], 'must be base64 of the whole file', { code: 'wrong-format' })
}

/**
 * Every stamp of a proof and what they say together, with the hash of the proof.
 *
 * @throws {ProblemError} where a stamp is of a kind that nobody here knows, or a location is not valid
 */
export async function judgeProof(
  proof: VerifyProofRequest['proof'],
  nowSeconds: number,
  engine: VerifyRunner,
  limits: Limits,
): Promise<{ credibility: CredibilityVector; proofHash: Hex }> {
  const proofHash = hashOf(proof, engine)
  const stamps = proof.stamps.map((stamp, index) => readStamp(stamp, ['proof', 'stamps', index], engine))
  const claimGeometry = engine.readLocation(proof.claim, ['proof', 'claim', 'location'])
  requireFewVertices([claimGeometry, ...stamps.map(({ geometry }) => geometry)], limits)
  const credibility = await assessProof({ claim: proof.claim, claimGeometry, stamps }, nowSeconds, engine)
  return { credibility, proofHash }
}

/** keccak-256 of the canonical JSON: what a proof is attested and referred to by. */
export function hashOf(proof: unknown, { crypto }: VerifyRunner): Hex {
  return crypto.keccak.hashHex(requireCanonical(proof, ['proof']))
}

function readStamp(stamp: LocationStamp, path: Path, engine: VerifyRunner): ReadStamp {
  const messages = canonical(() => new StampMessages(stamp, engine.crypto.keccak), stamp, path)
  const plugin = findPlugin(stamp.plugin, engine.config)
  if (plugin === undefined) {
    const names = pluginsOf(engine.config).map(({ name }) => name)
    throw problemAt('not-implemented', [...path, 'plugin'], 'names a plugin that is not supported here', {
      code: 'unknown-plugin',
      hint: `one of ${names.join(', ')}`,
    })
  }
  return { stamp, plugin, messages, geometry: engine.readLocation(stamp, [...path, 'location']) }
}

function requireCanonical(value: unknown, path: Path): Uint8Array {
  return canonical(() => canonicalBytes(value), value, path)
}

/** Signatures and the hash of a proof are over canonical text: what has none cannot be judged. */
function canonical<T>(make: () => T, value: unknown, path: Path): T {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw problemAt('invalid-input', [...path, ...oddPlace(value)], error.message, {
      code: 'no-canonical-form',
      hint: 'numbers have to be finite, and text without half a surrogate pair',
    })
  }
}

/** Where the first value stands that has no canonical form; a member's own name counts as its value. */
function oddPlace(value: unknown): Path {
  if (typeof value !== 'object' || value === null) return []
  for (const [name, member] of Object.entries(value)) {
    if (isCanonical(name) && isCanonical(member)) continue
    return [Array.isArray(value) ? Number(name) : name, ...oddPlace(member)]
  }
  return []
}

function isCanonical(value: unknown): boolean {
  try {
    canonicalBytes(value)
    return true
  } catch {
    return false
  }
}

/** Every pair of locations is measured, so that together they may be as large as one. */
function requireFewVertices(geometries: readonly ReadStamp['geometry'][], { maxVertices }: Limits): void {
  const count = geometries.reduce((sum, { vertices }) => sum + vertices.length / 2, 0)
  if (count <= maxVertices) return
  throw problemAt('invalid-input', ['proof'], `its locations have ${count} vertices, at most ${maxVertices} together`, {
    code: 'too-many-vertices',
  })
}
