import { decodeVerify } from '../src/attest/decode.ts'
import { encodeVerify, VERIFY_FIELDS } from '../src/attest/encode.ts'
import { TOO_MUCH_WORK } from '../src/compute/operations.ts'
import { OWN_EVALUATION, PROOF_HINT, type VerifyResult, type VerifyTask } from '../src/evidence-messages.ts'
import { WorkLimitError } from '../src/geodesy/distance.ts'
import type { ComputeWorkerData, Hex } from '../src/messages.ts'
import { ProblemError, problemAt } from '../src/problem.ts'
import type { CredibilityVector, VerifyOptions } from '../src/types/generated.ts'
import { parseJsonObject } from '../src/validation/json-body.ts'
import { readProofRequest } from '../src/validation/verify-request.ts'
import { verifyData } from '../src/verify/attested.ts'
import { contradictionOf } from '../src/verify/contradiction.ts'
import { olderCredibility } from '../src/verify/older-answer.ts'
import { asObject } from '../src/verify/signals.ts'
import type { StampVerdict } from '../src/verify/stamp.ts'
import { hashOf, judgeProof, judgeStamp, type VerifyRunner } from './verify-engine.ts'

const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`

type Limits = ComputeWorkerData['limits']
type Path = readonly (string | number)[]

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
  'older-stamp': answerOlderStamp,
  'older-proof': answerOlderProof,
  hash: async ({ proof }, _now, engine) => ({ ok: true, members: '', proofHash: hashOf(proof, engine) }),
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
  const text = JSON.stringify(details)
  return (
    `"valid":${valid},"signaturesValid":${signaturesValid},"structureValid":${structureValid},` +
    `"signalsConsistent":${signalsConsistent},"pluginResult":${text},"details":${text}`
  )
}

/** Where signatures are not valid the older generation answers with an error. */
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
    `"evaluationMethod":${methodText(engine)},"evaluatedAt":${nowSeconds}`
  return { ok: true, members, data: encodeVerify(verifyData(proofHash, credibility)), ...attestRequest(options) }
}

/** Signed for a chain only when one is named; the UID names the fields all the same. */
async function answerOlderProof(
  body: Body,
  nowSeconds: number,
  engine: VerifyRunner,
  limits: Limits,
): Promise<VerifyResult> {
  const { proof, options } = readProofRequest(body, limits.maxCollectionDepth)
  const { credibility, proofHash } = await judgeProof(proof, nowSeconds, engine, limits)
  const broken = credibility.stampResults.find(({ signaturesValid }) => !signaturesValid)
  if (broken !== undefined) throw signatureInvalid(['proof', 'stamps', broken.stampIndex, 'signatures'])
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

/** A proof that comes back is believed in nothing: it is judged again, as of the time it was judged first. */
async function answerRecheck(
  body: Body,
  nowSeconds: number,
  engine: VerifyRunner,
  limits: Limits,
): Promise<VerifyResult> {
  const { data } = body
  const attested = decodeVerify(typeof data === 'string' ? (data as Hex) : '0x')
  if (!attested.ok) throw differs(['attestation', 'data'], 'data', attested.reason)
  if (hashOf(body['proof'], engine) !== attested.value.proofHash) {
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
  const told = body['credibility']
  const place = told === undefined ? undefined : contradictionOf(told, asTold(credibility, told), ['credibility'])
  if (place !== undefined) throw differs(place, 'credibility', 'is not what the proof gives')
  const members =
    `"credibility":${JSON.stringify(credibility)},"claim":${JSON.stringify(proof.claim)},` +
    `"evaluatedAt":${nowSeconds},"evaluationMethod":${methodText(engine)}`
  return { ok: true, members }
}

/** The mode is not signed: a proof may have been answered before the operator claimed another one than the program's own. */
function asTold(credibility: CredibilityVector, told: unknown): CredibilityVector {
  const evaluationMode = asObject(asObject(told)?.['meta'])?.['evaluationMode']
  if (evaluationMode !== OWN_EVALUATION.mode) return credibility
  return { ...credibility, meta: { ...credibility.meta, evaluationMode: OWN_EVALUATION.mode } }
}

function methodText({ config }: VerifyRunner): string {
  return JSON.stringify((config.evaluation ?? OWN_EVALUATION).method)
}

function differs(path: Path, check: string, detail: string): ProblemError {
  return problemAt('invalid-input', path, detail, { code: `proof-${check}`, hint: PROOF_HINT })
}

function tooMuchWork(error: WorkLimitError): ProblemError {
  return problemAt('invalid-input', [], error.message, { code: TOO_MUCH_WORK, hint: 'simplify the locations' })
}
