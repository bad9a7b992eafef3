import { type ProblemError, problemAt } from '../base/problem.ts'
import { countWork, spendWork, type Work } from '../base/work.ts'
import { type ComputeContext, WORK_PER_VERTEX } from '../compute/run.ts'
import { checkGeodesicEdges, checkInterior, kernelPoleResolver } from '../compute/validity.ts'
import { canonicalBytes } from '../crypto/canonical.ts'
import { loadEd25519 } from '../crypto/ed25519.ts'
import type { Secp256k1 } from '../crypto/primitives.ts'
import { distanceMeters } from '../geodesy/distance.ts'
import { readLocationText } from '../geometry/location-text.ts'
import type { FormatLimits } from '../geometry/notation.ts'
import { readGeometry } from '../geometry/read.ts'
import type { CredibilityVector, LocationStamp, VerifyProofRequest } from '../types/generated.ts'
import type { parseJsonObject } from '../validation/json-body.ts'
import { readStampRequest } from '../validation/verify-request.ts'
import type { ComputeWorkerData } from '../wire/compute-messages.ts'
import type { Hex } from '../wire/values.ts'
import { assessProof } from './credibility.ts'
import { decodeBase64 } from './device/attested-message.ts'
import { StampMessages } from './message.ts'
import type { VerifyConfig } from './plugin.ts'
import { findPlugin, listPlugins } from './plugins/plugin-table.ts'
import { type ReadStamp, type StampVerdict, type VerifyEngine, verifyStamp } from './stamp.ts'

type Limits = ComputeWorkerData['limits']
type Path = readonly (string | number)[]
type Body = ReturnType<typeof parseJsonObject>

/** A claim or a stamp. */
type Located = Pick<LocationStamp, 'location' | 'locationType'>

/** The engine of `src/verify`, extended by a function that reads geometries within the limits. */
export interface VerifyRunner extends VerifyEngine {
  /** @param path of the location */
  readLocation(located: Located, path: Path): ReadStamp['geometry']
}

/** Creates the engine that judges evidence with the kernel's geodesy and this thread's cryptography. */
export async function createVerifyEngine(
  engine: ComputeContext & { readonly limits: FormatLimits },
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
    distanceMeters(a, b) {
      spendWork((vertexCount(a) + vertexCount(b)) * WORK_PER_OPERAND_VERTEX)
      return distanceMeters(kernel, a, b)
    },
    toPoint: (lon, lat) => readGeometry({ type: 'Point', coordinates: [lon, lat] }, [], limits),
    readLocation({ location, locationType }, path) {
      const geometry = typeof location === 'string' ? readLocationText(locationType, location, path, limits) : location
      const flat = readGeometry(geometry, path, limits)
      spendWork(vertexCount(flat) * WORK_PER_VERTEX)
      // Distances to the location are measured, so it must be valid for geodesic work.
      checkInterior(flat, path, kernel, true)
      checkGeodesicEdges(flat, path, kernelPoleResolver(kernel), 'verification')
      return flat
    },
  }
}

/** Units of work for each vertex of a geometry that is prepared for one distance: every stamp is measured against every other. */
const WORK_PER_OPERAND_VERTEX = 1 / 16

function vertexCount({ vertices }: ReadStamp['geometry']): number {
  return vertices.length / 2
}

/** Returns the same engine, whose measures and signatures add their work to that of one request. */
export function countingRunner(engine: VerifyRunner, work: Work): VerifyRunner {
  return {
    ...engine,
    count: (compute) => countWork(work, compute),
    distanceMeters: (a, b) => countWork(work, () => engine.distanceMeters(a, b)),
    readLocation: (located, path) => countWork(work, () => engine.readLocation(located, path)),
  }
}

/**
 * Verifies one stamp.
 *
 * @throws {ProblemError} when the stamp is malformed or its plugin is unknown
 */
export async function judgeStamp(
  body: Body,
  nowSeconds: number,
  engine: VerifyRunner,
  limits: Limits,
): Promise<StampVerdict> {
  const { stamp } = readStampRequest(body, limits.maxCollectionDepth)
  // The canonical form of a stamp leaves its signatures out, so check them here.
  const fault = findNotCanonical(stamp.signatures, ['stamp', 'signatures'])
  if (fault !== undefined) throw notCanonical(fault)
  const media = readMedia(body['media'] as string | undefined)
  return verifyStamp({ ...readStamp(stamp, ['stamp'], engine), media }, nowSeconds, engine)
}

/** Decodes base64. The limit on the size of a body also bounds the size of `text`. */
function readMedia(text: string | undefined): Uint8Array | undefined {
  if (text === undefined) return undefined
  const bytes = decodeBase64(text, text.length)
  if (bytes !== undefined) return bytes
  throw problemAt('invalid-input', ['media'], 'must be base64 of the whole file', { code: 'wrong-format' })
}

/**
 * Verifies every stamp of a proof. Returns the credibility of the claim and the hash of the proof.
 *
 * @throws {ProblemError} when the plugin of a stamp is unknown, or a location is not valid
 */
export async function judgeProof(
  proof: VerifyProofRequest['proof'],
  nowSeconds: number,
  engine: VerifyRunner,
  limits: Limits,
): Promise<{ credibility: CredibilityVector; proofHash: Hex }> {
  const proofHash = hashProof(proof, engine)
  const stamps = proof.stamps.map((stamp, index) => readStamp(stamp, ['proof', 'stamps', index], engine))
  const claimGeometry = engine.readLocation(proof.claim, ['proof', 'claim', 'location'])
  requireFewVertices([claimGeometry, ...stamps.map(({ geometry }) => geometry)], limits)
  const credibility = await assessProof({ claim: proof.claim, claimGeometry, stamps }, nowSeconds, engine)
  return { credibility, proofHash }
}

/** Returns keccak-256 of the canonical JSON. Attestations and references name a proof by this hash. */
export function hashProof(proof: unknown, { crypto }: VerifyRunner): Hex {
  return crypto.keccak.hashHex(requireCanonicalForm(() => canonicalBytes(proof), proof, ['proof']))
}

function readStamp(stamp: LocationStamp, path: Path, engine: VerifyRunner): ReadStamp {
  const messages = requireCanonicalForm(() => new StampMessages(stamp, engine.crypto.keccak), stamp, path)
  const plugin = findPlugin(stamp.plugin, engine.config)
  if (plugin === undefined) {
    const names = listPlugins(engine.config).map(({ name }) => name)
    throw problemAt('not-implemented', [...path, 'plugin'], 'names a plugin that is not supported here', {
      code: 'unknown-plugin',
      hint: `one of ${names.join(', ')}`,
    })
  }
  return { stamp, plugin, messages, geometry: engine.readLocation(stamp, [...path, 'location']) }
}

/**
 * Calls `make`. Signatures and hashes cover canonical JSON, so a value without a canonical form is a problem of the
 * input.
 */
function requireCanonicalForm<T>(make: () => T, value: unknown, path: Path): T {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw notCanonical(findNotCanonical(value, path) ?? { path, reason: error.message })
  }
}

interface CanonicalFault {
  readonly path: Path
  readonly reason: string
}

function notCanonical({ path, reason }: CanonicalFault): ProblemError {
  return problemAt('invalid-input', path, reason, {
    code: 'no-canonical-form',
    hint: 'numbers must be finite, and text must not contain unpaired surrogates',
  })
}

/** Finds the first value or member name in a JSON value that has no canonical form. */
function findNotCanonical(value: unknown, path: Path): CanonicalFault | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) return { path, reason: `${value} has no canonical form` }
  if (typeof value === 'string' && /\p{Surrogate}/u.test(value))
    return { path, reason: 'text with a lone surrogate has no canonical form' }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const memberPath = [...path, Array.isArray(value) ? Number(name) : name]
    const fault = findNotCanonical(name, memberPath) ?? findNotCanonical(member, memberPath)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** Limits the vertices of all locations together to the limit of one, because every pair of locations is measured. */
function requireFewVertices(geometries: readonly ReadStamp['geometry'][], { maxVertices }: Limits): void {
  const count = geometries.reduce((sum, geometry) => sum + vertexCount(geometry), 0)
  if (count <= maxVertices) return
  throw problemAt('invalid-input', ['proof'], `its locations have ${count} vertices in total, limit ${maxVertices}`, {
    code: 'too-many-vertices',
  })
}
