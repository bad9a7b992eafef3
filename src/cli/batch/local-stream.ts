import { PROBLEMS, type ProblemData, ProblemError } from '../../base/problem.ts'
import type { BatchOperation } from '../../client/batch.ts'
import type { BatchResult, ProblemDetails } from '../../types/generated.ts'
import type { OperationName } from '../../wire/messages.ts'
import { CommandError } from '../exit-codes.ts'
import type { LocalEngine } from '../local-engine.ts'

export interface LocalStreamOptions {
  readonly chainId: number
  readonly recipient: string | undefined
  readonly attest: 'each' | 'none' | undefined
  readonly signal: AbortSignal
}

/** Does the same as `client.batch.stream`, in this process. */
export async function* localStream(
  items: AsyncIterable<BatchOperation>,
  engine: LocalEngine,
  { chainId, recipient, attest, signal }: LocalStreamOptions,
): AsyncGenerator<BatchResult, void, undefined> {
  for await (const { op, id, ...members } of items) {
    if (signal.aborted) throw signal.reason
    const idMember = id === undefined ? {} : { id }
    try {
      const response = JSON.parse(await engine.compute(op as OperationName, { chainId, recipient, ...members }))
      if (attest === 'none') {
        delete response.attestation
        delete response.delegatedAttestation
      }
      yield { ...idMember, ...response }
    } catch (error) {
      if (error instanceof ProblemError) yield { ...idMember, error: toProblemDetails(error.data) }
      else if (error instanceof CommandError)
        yield { ...idMember, error: { ...toProblemDetails({ type: 'invalid-input', detail: error.message }) } }
      else throw error
    }
  }
}

function toProblemDetails({ type, detail, places }: ProblemData): ProblemDetails {
  const errors = places === undefined ? {} : { errors: places.slice(0, 10) as NonNullable<ProblemDetails['errors']> }
  return { type: 'about:blank', ...PROBLEMS[type], detail, ...errors }
}
