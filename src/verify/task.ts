import { decodeVerify, encodeVerify, VERIFY_FIELDS } from '../attest/data.ts'
import { ProblemError, problemAt } from '../base/problem.ts'
import { countWork, spendWork, Work, WorkLimitError } from '../base/work.ts'
import { tooComplexProblem } from '../compute/run.ts'
import type { CredibilityVector, StampResult, VerifyOptions } from '../types/generated.ts'
import { parseJsonObject } from '../validation/json-body.ts'
import { readProofRequest } from '../validation/verify-request.ts'
import { type ComputeWorkerData, EVALUATION_MODES, OWN_EVALUATION } from '../wire/compute-messages.ts'
import { PROOF_HINT, type VerifyResult, type VerifyTask } from '../wire/evidence-messages.ts'
import type { Hex } from '../wire/values.ts'
import { countingRunner, hashProof, judgeProof, judgeStamp, type VerifyRunner } from './engine.ts'
import { asObject } from './signals.ts'
import type { StampVerdict } from './stamp.ts'

type Path = readonly (string | number)[]

/**
 * Compares a result that a client sends back with the one computed here. Members that are missing or unknown are
 * ignored. So is `details`, because it is for people and changes with the rules.
 *
 * @param claimed JSON as received
 * @param computed JSON as computed
 * @returns the path of the first difference; undefined when there is none
 */
function findContradiction(claimed: unknown, computed: unknown, path: Path = []): Path | undefined {
  if (Array.isArray(computed)) {
    if (!Array.isArray(claimed) || claimed.length !== computed.length) return path
    for (let index = 0; index < computed.length; index++) {
      const difference = findContradiction(claimed[index], computed[index], [...path, index])
      if (difference !== undefined) return difference
    }
    return undefined
  }
  const [members, expected] = [asObject(claimed), asObject(computed)]
  if (expected === undefined) return claimed === computed ? undefined : path
  if (members === undefined) return path
  for (const [name, value] of Object.entries(expected)) {
    if (name === 'details' || !Object.hasOwn(members, name)) continue
    const difference = findContradiction(members[name], value, [...path, name])
    if (difference !== undefined) return difference
  }
  return undefined
}

/**
 * Returns the numbers of a credibility vector that are attested, as whole metres and basis points, rounded to nearest
 * (decision 25).
 *
 * @param proofHash keccak-256 of the canonical JSON of the proof as received
 */
function verifyData(proofHash: Hex, { dimensions, meta }: CredibilityVector) {
  const { spatial, temporal, validity, independence } = dimensions
  return {
    proofHash,
    meanDistanceMeters: Math.round(spatial.meanDistanceMeters),
    maxDistanceMeters: Math.round(spatial.maxDistanceMeters),
    withinRadiusBp: basisPoints(spatial.withinRadiusFraction),
    meanOverlapBp: basisPoints(temporal.meanOverlap),
    minOverlapBp: basisPoints(temporal.minOverlap),
    signaturesValidBp: basisPoints(validity.signaturesValidFraction),
    structureValidBp: basisPoints(validity.structureValidFraction),
    signalsConsistentBp: basisPoints(validity.signalsConsistentFraction),
    uniquePluginRatioBp: basisPoints(independence.uniquePluginRatio),
    stampCount: meta.stampCount,
  }
}

function basisPoints(fraction: number): number {
  return Math.round(fraction * 10_000)
}

/**
 * Converts a credibility vector into the shape of the older API (decision 74).
 *
 * `confidence` is the mean support of the stamps. A stamp that is fully valid and within the radius supports the claim
 * by its overlap in time, any other by 0. `confidence` is not a probability and is not calibrated.
 */
function olderCredibility({ dimensions, stampResults, extensions }: CredibilityVector) {
  const { spatial, temporal, validity, independence } = dimensions
  const { pluginNames, ...independenceNumbers } = independence
  const results = stampResults.map((result) => {
    const claimSupportScore = supportScore(result)
    return { ...result, supportsClaim: claimSupportScore > 0, claimSupportScore }
  })
  const scores = results.map(({ claimSupportScore }) => claimSupportScore).sort((a, b) => a - b)
  return {
    confidence: Math.min(1, scores.reduce((sum, score) => sum + score, 0) / scores.length),
    stampResults: results,
    correlation: {
      independence: independence.uniquePluginRatio,
      agreement: independence.spatialAgreement,
      notes: [
        'confidence is not a calibrated probability',
        ...countNote(extensions.duplicateStamps, 'stamps are copies of another'),
        ...countNote(extensions.mockStamps, 'stamps are made up (mock)'),
        `plugins: ${pluginNames.join(', ')}`,
      ],
    },
    dimensions: { ...spatial, ...temporal, ...validity, ...independenceNumbers },
  }
}

function supportScore(result: StampResult): number {
  const isValid = result.signaturesValid && result.structureValid && result.signalsConsistent
  return isValid && result.withinRadius ? result.temporalOverlap : 0
}

function countNote(count: number, text: string): string[] {
  return count === 0 ? [] : [`${count} ${text}`]
}

const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`

type Limits = ComputeWorkerData['limits']

/** Bytes of a body that are parsed, checked, written in canonical form and hashed in one unit of work. */
const BYTES_PER_UNIT = 32

/**
 * Runs one request about evidence, from its bytes to the text of its response.
 *
 * @returns problems as data instead of throwing them
 * @throws {Error} on a bug in this program
 */
export async function runVerifyTask(task: VerifyTask, engine: VerifyRunner, limits: Limits): Promise<VerifyResult> {
  try {
    const work = new Work(limits.maxWork)
    countWork(work, () => spendWork(Math.floor(task.body.byteLength / BYTES_PER_UNIT)))
    const body = parseJsonObject(task.body, limits.maxJsonDepth)
    const counting = countingRunner(engine, work)
    return await HANDLERS[task.kind](body, task.nowSeconds, counting, limits)
  } catch (error) {
    if (error instanceof ProblemError) return { ok: false, problem: error.data }
    if (error instanceof WorkLimitError) return { ok: false, problem: tooComplexProblem('the evidence', error).data }
    throw error
  }
}

type Body = ReturnType<typeof parseJsonObject>
type Handler = (body: Body, nowSeconds: number, engine: VerifyRunner, limits: Limits) => Promise<VerifyResult>

const HANDLERS: Readonly<Record<VerifyTask['kind'], Handler>> = {
  stamp: answerStamp,
  proof: answerProof,
  'older-stamp': answerOlderStamp,
  'older-proof': answerOlderProof,
  hash: async ({ proof }, _now, engine) => ({ ok: true, members: '', proofHash: hashProof(proof, engine) }),
  recheck: answerRecheck,
}

async function answerStamp(
  body: Body,
  nowSeconds: number,
  engine: VerifyRunner,
  limits: Limits,
): Promise<VerifyResult> {
  return { ok: true, members: stampMembers(await judgeStamp(body, nowSeconds, engine, limits)) }
}

async function answerOlderStamp(
  body: Body,
  nowSeconds: number,
  engine: VerifyRunner,
  limits: Limits,
): Promise<VerifyResult> {
  const verdict = await judgeStamp(body, nowSeconds, engine, limits)
  if (!verdict.signaturesValid) throw signatureInvalid(['stamp', 'signatures'])
  return { ok: true, members: stampMembers(verdict) }
}

function stampMembers({ signaturesValid, structureValid, signalsConsistent, details }: StampVerdict): string {
  const valid = signaturesValid && structureValid && signalsConsistent
  const json = JSON.stringify(details)
  return (
    `"valid":${valid},"signaturesValid":${signaturesValid},"structureValid":${structureValid},` +
    `"signalsConsistent":${signalsConsistent},"pluginResult":${json},"details":${json}`
  )
}

/** The error of the older API, which rejects a stamp or proof whose signatures are not valid. */
function signatureInvalid(path: Path): ProblemError {
  return problemAt('validation', path, 'do not verify', { code: 'signature-invalid' })
}

async function answerProof(
  body: Body,
  nowSeconds: number,
  engine: VerifyRunner,
  limits: Limits,
): Promise<VerifyResult> {
  const { proof, options } = readProofRequest(body, limits.maxCollectionDepth)
  const { credibility, proofHash } = await judgeProof(proof, nowSeconds, engine, limits)
  const members =
    `"proof":${JSON.stringify(proof)},"credibility":${JSON.stringify(credibility)},` +
    `"evaluationMethod":${methodJson(engine)},"evaluatedAt":${nowSeconds}`
  return { ok: true, members, data: encodeVerify(verifyData(proofHash, credibility)), ...attestRequest(options) }
}

/** Verifies a proof in the older shape. The result is signed only when the request names a chain. */
async function answerOlderProof(
  body: Body,
  nowSeconds: number,
  engine: VerifyRunner,
  limits: Limits,
): Promise<VerifyResult> {
  const { proof, options } = readProofRequest(body, limits.maxCollectionDepth)
  const { credibility, proofHash } = await judgeProof(proof, nowSeconds, engine, limits)
  const invalid = credibility.stampResults.find(({ signaturesValid }) => !signaturesValid)
  if (invalid !== undefined) throw signatureInvalid(['proof', 'stamps', invalid.stampIndex, 'signatures'])
  const members = `"proof":${JSON.stringify(proof)},"credibility":${JSON.stringify(olderCredibility(credibility))}`
  return { ok: true, members, data: encodeVerify(verifyData(proofHash, credibility)), ...attestRequest(options) }
}

function attestRequest(options: VerifyOptions = {}): Pick<Extract<VerifyResult, { ok: true }>, 'attest'> {
  const { chainId, recipient, submitOnchain = false } = options
  if (chainId === undefined) return {}
  return {
    attest: { chainId, recipient: (recipient?.toLowerCase() as Hex | undefined) ?? ZERO_ADDRESS, submitOnchain },
  }
}

/**
 * Checks a verified proof that a client sends back. Nothing in it is trusted: the proof is judged again, as of the time
 * of the first verification, and every member is compared.
 */
async function answerRecheck(
  body: Body,
  nowSeconds: number,
  engine: VerifyRunner,
  limits: Limits,
): Promise<VerifyResult> {
  const { data } = body
  const attested = decodeVerify(typeof data === 'string' ? (data as Hex) : '0x')
  if (!attested.ok) throw differs(['attestation', 'data'], 'data', attested.reason)
  if (hashProof(body['proof'], engine) !== attested.value.proofHash) {
    throw differs(['proof'], 'hash', 'is not the proof that was attested')
  }
  const { proof } = readProofRequest({ proof: body['proof'] }, limits.maxCollectionDepth)
  const { credibility, proofHash } = await judgeProof(proof, nowSeconds, engine, limits)
  const measured = verifyData(proofHash, credibility)
  for (const [name] of VERIFY_FIELDS) {
    if (measured[name] === attested.value[name]) continue
    const detail = `attests ${name} ${attested.value[name]}, the proof gives ${measured[name]}`
    throw differs(['attestation', 'data'], 'measures', detail)
  }
  const claimed = body['credibility']
  const path =
    claimed === undefined
      ? undefined
      : findContradiction(claimed, withClaimedMode(claimed, credibility), ['credibility'])
  if (path !== undefined) throw differs(path, 'credibility', 'is not what the proof gives')
  const members =
    `"credibility":${JSON.stringify(credibility)},"claim":${JSON.stringify(proof.claim)},` +
    `"evaluatedAt":${nowSeconds},"evaluationMethod":${methodJson(engine)}`
  return { ok: true, members }
}

/**
 * Returns the result with the client's evaluation mode. The mode is not signed: the operator may have changed the
 * setting since.
 */
function withClaimedMode(claimed: unknown, credibility: CredibilityVector): CredibilityVector {
  const claimedMode = asObject(asObject(claimed)?.['meta'])?.['evaluationMode']
  const mode = EVALUATION_MODES.find((candidate) => candidate === claimedMode)
  if (mode === undefined) return credibility
  return { ...credibility, meta: { ...credibility.meta, evaluationMode: mode } }
}

function methodJson({ config }: VerifyRunner): string {
  return JSON.stringify((config.evaluation ?? OWN_EVALUATION).method)
}

function differs(path: Path, check: string, detail: string): ProblemError {
  return problemAt('invalid-input', path, detail, { code: `proof-${check}`, hint: PROOF_HINT })
}
