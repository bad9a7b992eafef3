import type { MerkleAttestation } from '../types/generated.ts'
import type { CheckContext } from './check-attestation.ts'
import { checkStamp } from './check-stamp.ts'
import { isObject } from './forms.ts'
import { type AnswerKind, CheckList, type Verdict } from './verdict.ts'
import { contextOf } from './verify-context.ts'
import type { VerifyResultOptions } from './verify-options.ts'
import { verifyMerkleItem, verifySigned } from './verify-signed.ts'

/**
 * Whether an answer of the service holds, check by check, without asking the service.
 *
 * Takes a compute answer (with `resultSignature` or not), an item of a batch, a batch, a Merkle root, a re-signed
 * attestation, a verified proof or a stamp; as JSON text or parsed.
 *
 * @returns never throws on an answer, whatever it holds
 * @throws {TypeError} on options that make no sense
 */
export async function verifyResult(answer: unknown, options: VerifyResultOptions = {}): Promise<Verdict> {
  const list = new CheckList()
  let value = answer
  if (typeof answer === 'string') {
    try {
      value = JSON.parse(answer)
    } catch {
      list.fail('form', 'the answer is no JSON')
      return list.verdict('unknown')
    }
  }
  const kind = kindOf(value)
  if (!isObject(value) || kind === 'unknown') {
    list.fail('form', 'is no answer that is known here')
    return list.verdict('unknown')
  }
  const context = await contextOf(options)
  switch (kind) {
    case 'stamp':
      await checkStamp(value, context.keccak, context.secp256k1, list)
      return list.verdict(kind)
    case 'batch':
      return verifyBatch(value, options, context.chains, list)
    case 'merkle-item':
      return verifyMerkleItem(value, options, context, list)
    default:
      return verifySigned(kind, value, options, context, list)
  }
}

/** Which answer it is, by the members that only one of them has. */
function kindOf(value: unknown): AnswerKind {
  if (!isObject(value)) return 'unknown'
  if (Array.isArray(value['results'])) return 'batch'
  if (Array.isArray(value['signatures']) && 'plugin' in value) return 'stamp'
  if (isObject(value['proof'])) return 'verified-proof'
  if (Array.isArray(value['proof'])) return 'merkle-item'
  if ('leafCount' in value) return 'merkle-root'
  if ('operation' in value || 'result' in value) return 'compute'
  return 'attestation' in value ? 'attestation' : 'unknown'
}

/** All results of a batch; a refusal in the place of a result is no fault. */
async function verifyBatch(
  value: Record<string, unknown>,
  options: VerifyResultOptions,
  chains: CheckContext['chains'],
  list: CheckList,
): Promise<Verdict> {
  const results = value['results'] as unknown[]
  const { chainId } = value
  if (typeof chainId !== 'number' || chains.every(({ id }) => id !== chainId)) {
    list.fail('chain', `chain ${JSON.stringify(chainId)} is not the one wanted, or not known`)
    return list.verdict('batch')
  }
  const { inputs: _, recompute: __, rpcUrl: ___, ...common } = options
  const merkle = options.merkle ?? (value['merkle'] as MerkleAttestation | null | undefined)
  const faults: string[] = []
  let refused = 0
  let signer: string | undefined
  for (const [index, result] of results.entries()) {
    if (isObject(result) && 'error' in result && !('result' in result)) {
      refused += 1
      continue
    }
    const verdict = await verifyResult(result, { ...common, merkle, chainId })
    const failed = verdict.checks.find(({ status }) => status === 'fail')
    if (verdict.ok) signer ??= verdict.signer
    else faults.push(`item ${index}: ${failed?.id ?? 'signature'}: ${failed?.detail ?? 'nobody signed it'}`)
  }
  if (value['count'] !== results.length) faults.push(`count is ${value['count']}, there are ${results.length} results`)
  if (value['failed'] !== refused) faults.push(`failed is ${value['failed']}, there are ${refused} refusals`)
  const held = results.length - refused
  list.judge('items', faults, `${held} results hold, ${refused} were refused`)
  if (held > 0 && faults.length === 0) list.pass('signature', `${signer} signed all ${held}`)
  else list.fail('signature', faults.length === 0 ? 'nothing in the batch is signed' : 'not all results hold')
  return list.verdict('batch', { ...(signer === undefined ? {} : { signer }) })
}
