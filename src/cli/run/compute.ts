import { type InputLike, toInput } from '../../client/inputs.ts'
import { readSignedData, statementOf, timeText } from '../../client/signed-data.ts'
import { noteText } from '../../compute/result-text.ts'
import type { ComputeResponse } from '../../types/generated.ts'
import { EXIT, type ExitCode, usage } from '../exit-codes.ts'
import { readInput } from '../inputs/read-input.ts'
import type { SourceOptions } from '../inputs/source.ts'
import { OPERATION_INPUTS, type Operation } from '../operation-names.ts'
import { clientOf, DEFAULT_CHAIN_ID, type ServerOptions } from '../options.ts'
import { outJson, type Terminal } from '../terminal.ts'

export interface ComputeVerbOptions extends ServerOptions, SourceOptions {
  readonly radius?: number
  readonly chainId?: number
  readonly recipient?: string
  readonly schema?: string
  readonly resultSignature?: boolean
  readonly local?: boolean
  readonly data?: string
  readonly json?: boolean
}

/** `trigpoint compute`: one operation. @returns 1 when the answer is no, so that a script can ask */
export async function runCompute(
  operation: Operation,
  given: readonly string[],
  options: ComputeVerbOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const names = OPERATION_INPUTS[operation]
  if (given.length !== names.length) {
    throw usage(`${operation} takes ${names.length} inputs (${names.join(', ')}), found ${given.length}`)
  }
  if ((operation === 'within') !== (options.radius !== undefined)) {
    throw usage(operation === 'within' ? 'within needs --radius <meters>' : `${operation} has no --radius`)
  }
  if (given.filter((text) => text.trim().split('#')[0] === '-').length > 1) {
    throw usage('standard input can be one of the inputs, not both')
  }
  const members: Record<string, InputLike> = {}
  for (const [index, name] of names.entries()) members[name] = await readInput(given[index]!, terminal, options)
  const answer = await ask(operation, members, options, terminal)
  if (options.json === true) await outJson(terminal, answer)
  else await terminal.out(answerText(answer, names))
  return answer.result === false ? EXIT.failed : EXIT.ok
}

async function ask(
  operation: Operation,
  members: Record<string, InputLike>,
  options: ComputeVerbOptions,
  terminal: Terminal,
): Promise<ComputeResponse> {
  const { radius, recipient, schema, resultSignature = false, chainId = DEFAULT_CHAIN_ID } = options
  let inputs: Record<string, unknown>
  try {
    inputs = Object.fromEntries(Object.entries(members).map(([name, input]) => [name, toInput(input)]))
  } catch (error) {
    throw usage((error as Error).message, error)
  }
  if (options.local !== true) {
    const { compute } = await clientOf(options, terminal, chainId)
    const [first, second] = Object.values(inputs) as [InputLike, InputLike]
    const call = { recipient, schema, resultSignature, signal: terminal.signal }
    if (operation === 'within') return compute.within(first, second, radius!, call)
    return operation === 'area' || operation === 'length'
      ? compute[operation](first, call)
      : compute[operation](first, second, call)
  }
  const { createLocalEngine } = await import('../local-engine.ts')
  const engine = await createLocalEngine(terminal, options.data)
  const body = { chainId, ...inputs, radius, recipient, schema }
  return JSON.parse(await engine.compute(operation, body, resultSignature))
}

/** What was signed, for people: the number first. */
function answerText(answer: ComputeResponse, names: readonly string[]): string {
  const { result, operation, inputRefs, notes, timestamp, attestation, delegatedAttestation } = answer
  const kind = typeof result === 'boolean' ? 'boolean' : 'numeric'
  const signed = readSignedData(kind, attestation.data)
  const statement = signed.ok ? statementOf(signed.value, attestation.recipient) : 'the signed data cannot be read'
  const refs = inputRefs.map((ref, index) => `${(names[index] ?? 'input').padEnd(11)}${ref}`)
  return [
    resultText(answer),
    '',
    statement,
    ...refs,
    `${'operation'.padEnd(11)}${operation}`,
    ...(notes ?? []).map((note) => `${'note'.padEnd(11)}${noteText(note)}`),
    `${'attester'.padEnd(11)}${attestation.attester}`,
    `${'signed'.padEnd(11)}${timeText(timestamp)}, nonce ${delegatedAttestation.nonce}, to be submitted until ${timeText(delegatedAttestation.deadline)}`,
    '',
  ].join('\n')
}

/** `4,238.77 m`; the digits of the answer, none more and none less. */
function resultText(answer: ComputeResponse): string {
  if (typeof answer.result === 'boolean') return String(answer.result)
  const isArea = answer.units === 'square_meters'
  return `${answer.result.toLocaleString('en-US', { minimumFractionDigits: isArea ? 4 : 2, maximumFractionDigits: isArea ? 4 : 2 })} ${isArea ? 'm²' : 'm'}`
}
