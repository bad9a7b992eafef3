import { encodeVerify } from '../src/attest/encode.ts'
import { TOO_MUCH_WORK } from '../src/compute/operations.ts'
import type { Engine } from '../src/compute/run.ts'
import { checkInterior } from '../src/compute/validity.ts'
import { loadEd25519 } from '../src/crypto/ed25519.ts'
import { loadSecp256k1 } from '../src/crypto/secp256k1.ts'
import type { VerifyResult, VerifyTask } from '../src/evidence-messages.ts'
import { distanceMeters, WorkLimitError } from '../src/geodesy/distance.ts'
import { canonicalJson } from '../src/geometry/canonical.ts'
import { readGeometry } from '../src/geometry/read.ts'
import type { ComputeWorkerData, Hex } from '../src/messages.ts'
import { ProblemError, problemAt } from '../src/problem.ts'
import type { Geometry, LocationStamp } from '../src/types/generated.ts'
import { parseJsonObject } from '../src/validation/json-body.ts'
import { readProofRequest, readStampRequest } from '../src/validation/verify-request.ts'
import { verifyData } from '../src/verify/attested.ts'
import { assessProof, EVALUATION_METHOD } from '../src/verify/credibility.ts'
import type { VerifyConfig } from '../src/verify/plugin.ts'
import { findPlugin, pluginsOf } from '../src/verify/plugin-table.ts'
import { type ReadStamp, type VerifyEngine, verifyStamp } from '../src/verify/stamp.ts'

type Limits = ComputeWorkerData['limits']
type Path = readonly (string | number)[]

/** What this file adds to the engine of `src/verify`: reading geometries within the limits. */
export interface VerifyRunner extends VerifyEngine {
  readGeometry(geometry: Geometry, path: Path): ReadStamp['geometry']
}

const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`

/** Judges evidence by the kernel's geodesy and this thread's cryptography. */
export async function createVerifyEngine(engine: Engine, config: VerifyConfig): Promise<VerifyRunner> {
  const { kernel, keccak, limits } = engine
  return {
    crypto: { keccak, secp256k1: await loadSecp256k1(), ed25519: await loadEd25519() },
    config,
    distanceMeters: (a, b) => distanceMeters(kernel, a, b, limits.maxDistanceSolves),
    pointOf: (lon, lat) => readGeometry({ type: 'Point', coordinates: [lon, lat] }, [], limits),
    readGeometry(geometry, path) {
      const flat = readGeometry(geometry, path, limits)
      checkInterior(flat, path, kernel)
      return flat
    },
  }
}

/**
 * One request about evidence, from bytes to the text of its answer.
 *
 * @returns a problem as data instead of throwing it
 * @throws whatever is a bug of ours
 */
export async function runVerifyTask(task: VerifyTask, engine: VerifyRunner, limits: Limits): Promise<VerifyResult> {
  try {
    const body = parseJsonObject(task.body, limits.maxJsonDepth)
    return task.question === 'stamp'
      ? await answerStamp(body, task.nowSeconds, engine, limits)
      : await answerProof(body, task.nowSeconds, engine, limits)
  } catch (error) {
    if (error instanceof ProblemError) return { ok: false, problem: error.data }
    if (error instanceof WorkLimitError) return { ok: false, problem: tooMuchWork(error).data }
    throw error
  }
}

type Body = ReturnType<typeof parseJsonObject>

async function answerStamp(
  body: Body,
  nowSeconds: number,
  engine: VerifyRunner,
  limits: Limits,
): Promise<VerifyResult> {
  const { stamp } = readStampRequest(body, limits.maxCollectionDepth)
  requireCanonical(stamp, ['stamp'])
  const verdict = await verifyStamp(readStamp(stamp, ['stamp'], engine), nowSeconds, engine)
  const { signaturesValid, structureValid, signalsConsistent, details } = verdict
  const valid = signaturesValid && structureValid && signalsConsistent
  const text = JSON.stringify(details)
  const members =
    `"valid":${valid},"signaturesValid":${signaturesValid},"structureValid":${structureValid},` +
    `"signalsConsistent":${signalsConsistent},"pluginResult":${text},"details":${text}`
  return { ok: true, members, data: undefined, attest: undefined }
}

async function answerProof(
  body: Body,
  nowSeconds: number,
  engine: VerifyRunner,
  limits: Limits,
): Promise<VerifyResult> {
  const { proof, options } = readProofRequest(body, limits.maxCollectionDepth)
  const canonical = requireCanonical(proof, ['proof'])
  const stamps = proof.stamps.map((stamp, index) => readStamp(stamp, ['proof', 'stamps', index], engine))
  const claimGeometry = engine.readGeometry(proof.claim.location, ['proof', 'claim', 'location'])
  requireFewVertices([claimGeometry, ...stamps.map(({ geometry }) => geometry)], limits)
  const credibility = await assessProof({ claim: proof.claim, claimGeometry, stamps }, nowSeconds, engine)
  const proofHash = engine.crypto.keccak.hashHex(Buffer.from(canonical, 'utf8'))
  const members =
    `"proof":${JSON.stringify(proof)},"credibility":${JSON.stringify(credibility)},` +
    `"evaluationMethod":"${EVALUATION_METHOD}","evaluatedAt":${nowSeconds}`
  const { chainId, recipient, submitOnchain = false } = options ?? {}
  return {
    ok: true,
    members,
    data: encodeVerify(verifyData(proofHash, credibility)),
    attest:
      chainId === undefined
        ? undefined
        : { chainId, recipient: (recipient?.toLowerCase() as Hex | undefined) ?? ZERO_ADDRESS, submitOnchain },
  }
}

function readStamp(stamp: LocationStamp, path: Path, engine: VerifyRunner): ReadStamp {
  const plugin = findPlugin(stamp.plugin, engine.config)
  if (plugin === undefined) {
    const names = pluginsOf(engine.config).map(({ name }) => name)
    throw problemAt('not-implemented', [...path, 'plugin'], 'names a plugin that is not supported here', {
      code: 'unknown-plugin',
      hint: `one of ${names.join(', ')}`,
    })
  }
  return { stamp, plugin, geometry: engine.readGeometry(stamp.location, [...path, 'location']) }
}

/** Signatures and the hash of a proof are over canonical text: what has none cannot be judged. */
function requireCanonical(value: unknown, path: Path): string {
  try {
    return canonicalJson(value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw problemAt('invalid-input', path, error.message, { code: 'no-canonical-form' })
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

function tooMuchWork(error: WorkLimitError): ProblemError {
  return problemAt('invalid-input', [], error.message, { code: TOO_MUCH_WORK, hint: 'simplify the locations' })
}
