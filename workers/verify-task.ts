import { decodeVerify } from '../src/attest/decode.ts'
import { encodeVerify, VERIFY_FIELDS } from '../src/attest/encode.ts'
import { TOO_MUCH_WORK } from '../src/compute/operations.ts'
import type { Engine } from '../src/compute/run.ts'
import { checkInterior } from '../src/compute/validity.ts'
import { loadEd25519 } from '../src/crypto/ed25519.ts'
import { loadSecp256k1 } from '../src/crypto/secp256k1.ts'
import { PROOF_HINT, type VerifyResult, type VerifyTask } from '../src/evidence-messages.ts'
import { distanceMeters, WorkLimitError } from '../src/geodesy/distance.ts'
import { canonicalJson } from '../src/geometry/canonical.ts'
import { readGeometry } from '../src/geometry/read.ts'
import type { ComputeWorkerData, Hex } from '../src/messages.ts'
import { ProblemError, problemAt } from '../src/problem.ts'
import type { CredibilityVector, Geometry, LocationStamp, VerifyProofRequest } from '../src/types/generated.ts'
import { parseJsonObject } from '../src/validation/json-body.ts'
import { readProofRequest, readStampRequest } from '../src/validation/verify-request.ts'
import { verifyData } from '../src/verify/attested.ts'
import { contradictionOf } from '../src/verify/contradiction.ts'
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
    return await ANSWERS[task.question](body, task.nowSeconds, engine, limits)
  } catch (error) {
    if (error instanceof ProblemError) return { ok: false, problem: error.data }
    if (error instanceof WorkLimitError) return { ok: false, problem: tooMuchWork(error).data }
    throw error
  }
}

type Body = ReturnType<typeof parseJsonObject>
type Answer = (body: Body, nowSeconds: number, engine: VerifyRunner, limits: Limits) => Promise<VerifyResult>

const ANSWERS: Readonly<Record<VerifyTask['question'], Answer>> = {
  stamp: answerStamp,
  proof: answerProof,
  hash: async ({ proof }, _now, engine) => ({ ok: true, members: '', proofHash: hashOf(proof, engine) }),
  recheck: answerRecheck,
}

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
  return { ok: true, members }
}

async function answerProof(
  body: Body,
  nowSeconds: number,
  engine: VerifyRunner,
  limits: Limits,
): Promise<VerifyResult> {
  const { proof, options } = readProofRequest(body, limits.maxCollectionDepth)
  const { credibility, proofHash } = await judge(proof, nowSeconds, engine, limits)
  const members =
    `"proof":${JSON.stringify(proof)},"credibility":${JSON.stringify(credibility)},` +
    `"evaluationMethod":"${EVALUATION_METHOD}","evaluatedAt":${nowSeconds}`
  const data = encodeVerify(verifyData(proofHash, credibility))
  const { chainId, recipient, submitOnchain = false } = options ?? {}
  if (chainId === undefined) return { ok: true, members, data }
  const attest = { chainId, recipient: (recipient?.toLowerCase() as Hex | undefined) ?? ZERO_ADDRESS, submitOnchain }
  return { ok: true, members, data, attest }
}

/** A proof that comes back is believed in nothing: it is judged again, as of the time it was judged first. */
async function answerRecheck(
  body: Body,
  nowSeconds: number,
  engine: VerifyRunner,
  limits: Limits,
): Promise<VerifyResult> {
  const attested = decodeVerify(body['data'] as Hex)
  if (!attested.ok) throw differs(['attestation', 'data'], 'data', attested.reason)
  if (hashOf(body['proof'], engine) !== attested.value.proofHash) {
    throw differs(['proof'], 'hash', 'is not the proof that was attested')
  }
  const { proof } = readProofRequest({ proof: body['proof'] }, limits.maxCollectionDepth)
  const { credibility, proofHash } = await judge(proof, nowSeconds, engine, limits)
  const measured = verifyData(proofHash, credibility)
  for (const [name] of VERIFY_FIELDS) {
    if (measured[name] === attested.value[name]) continue
    const detail = `attests ${name} ${attested.value[name]}, the proof gives ${measured[name]}`
    throw differs(['attestation', 'data'], 'measures', detail)
  }
  const told = body['credibility']
  const place = told === undefined ? undefined : contradictionOf(told, credibility, ['credibility'])
  if (place !== undefined) throw differs(place, 'credibility', 'is not what the proof gives')
  const members =
    `"credibility":${JSON.stringify(credibility)},"claim":${JSON.stringify(proof.claim)},` +
    `"evaluatedAt":${nowSeconds},"evaluationMethod":"${EVALUATION_METHOD}"`
  return { ok: true, members }
}

function differs(path: Path, check: string, detail: string): ProblemError {
  return problemAt('invalid-input', path, detail, { code: `proof-${check}`, hint: PROOF_HINT })
}

async function judge(
  proof: VerifyProofRequest['proof'],
  nowSeconds: number,
  engine: VerifyRunner,
  limits: Limits,
): Promise<{ credibility: CredibilityVector; proofHash: Hex }> {
  const proofHash = hashOf(proof, engine)
  const stamps = proof.stamps.map((stamp, index) => readStamp(stamp, ['proof', 'stamps', index], engine))
  const claimGeometry = engine.readGeometry(proof.claim.location, ['proof', 'claim', 'location'])
  requireFewVertices([claimGeometry, ...stamps.map(({ geometry }) => geometry)], limits)
  const credibility = await assessProof({ claim: proof.claim, claimGeometry, stamps }, nowSeconds, engine)
  return { credibility, proofHash }
}

function hashOf(proof: unknown, { crypto }: VerifyRunner): Hex {
  return crypto.keccak.hashHex(Buffer.from(requireCanonical(proof, ['proof']), 'utf8'))
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
