import { callOperation } from '../../client/compute.ts'
import { type InputLike, toInput } from '../../client/forms.ts'
import type { OperationResponse } from '../../client/joined-calls.ts'
import { describeData, readSignedData, timeText } from '../../client/verify/signed-data.ts'
import { noteText } from '../../compute/response-text.ts'
import type {
  BufferResponse,
  ComputeResponse,
  DirectResponse,
  Geometry,
  NearestResponse,
  RepairResponse,
  WaypointsResponse,
} from '../../types/generated.ts'
import { EXIT, type ExitCode, usage } from '../exit-codes.ts'
import { readInput } from '../inputs/read-input.ts'
import type { SourceOptions } from '../inputs/source.ts'
import {
  createServiceClient,
  DEFAULT_CHAIN_ID,
  type MemberOptions,
  OPERATION_INPUTS,
  type Operation,
  optionMembers,
  type ServerOptions,
} from '../options.ts'
import { outJson, type Terminal } from '../terminal.ts'

export interface ComputeVerbOptions extends ServerOptions, SourceOptions, MemberOptions {
  readonly chainId?: number
  readonly recipient?: string
  readonly schema?: string
  readonly resultSignature?: boolean
  readonly salt?: boolean
  readonly local?: boolean
  readonly data?: string
  readonly json?: boolean
}

/** Runs `trigpoint compute`. @returns 1 if a predicate is false, so that a script can branch on it */
export async function runCompute(
  operation: Operation,
  inputTexts: readonly string[],
  options: ComputeVerbOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const names = OPERATION_INPUTS[operation]
  if (inputTexts.length !== names.length) {
    throw usage(`${operation} takes ${names.length} inputs (${names.join(', ')}), found ${inputTexts.length}`)
  }
  const parameters = optionMembers(operation, options, true)
  if (inputTexts.filter((text) => text.trim().split('#')[0] === '-').length > 1) {
    throw usage('only one of the inputs can be standard input')
  }
  const members: Record<string, InputLike> = {}
  for (const [index, name] of names.entries()) members[name] = await readInput(inputTexts[index]!, terminal, options)
  const response = await computeResult(operation, members, parameters, options, terminal)
  if (options.json === true) await outJson(terminal, response)
  else if ('ref' in response) await outGeometries(terminal, [response.geometry], geometryFacts(response, names))
  else if ('from' in response)
    await outGeometries(terminal, [response.from.geometry, response.to.geometry], nearestFacts(response))
  else await terminal.out(responseText(response, names))
  return 'result' in response && response.result === false ? EXIT.failed : EXIT.ok
}

async function computeResult(
  operation: Operation,
  members: Record<string, InputLike>,
  parameters: Readonly<Record<string, number | string>>,
  options: ComputeVerbOptions,
  terminal: Terminal,
): Promise<OperationResponse> {
  const { recipient, schema, resultSignature = false, chainId = DEFAULT_CHAIN_ID } = options
  let inputs: Record<string, unknown>
  try {
    inputs = Object.fromEntries(Object.entries(members).map(([name, input]) => [name, salted(toInput(input), options)]))
  } catch (error) {
    throw usage((error as Error).message, error)
  }
  if (options.local !== true) {
    const { compute } = await createServiceClient(options, terminal, chainId)
    const call = { recipient, schema, resultSignature, signal: terminal.signal }
    return callOperation(compute, operation, { ...inputs, ...parameters }, call)
  }
  const { createLocalEngine } = await import('../local-engine.ts')
  const engine = createLocalEngine(terminal, options.data)
  const body = { chainId, ...inputs, ...parameters, recipient, schema }
  return JSON.parse(await engine.compute(operation, body, resultSignature))
}

/** Adds a salt to an input, unless it is an attestation, whose UID is public. */
function salted(input: object, { salt }: ComputeVerbOptions): object {
  return salt !== true || 'uid' in input || 'attestation' in input ? input : { input, salt: 'random' }
}

type GeometryResponse = BufferResponse | DirectResponse | RepairResponse | WaypointsResponse

/**
 * Prints geometries, a line of GeoJSON for each, and facts about them. The facts go to standard error if standard output is not a
 * terminal, so that a file or the next program of a pipe gets GeoJSON.
 */
async function outGeometries(terminal: Terminal, geometries: readonly Geometry[], facts: readonly string[]) {
  const text = geometries.map((geometry) => `${JSON.stringify(geometry)}\n`).join('')
  const factsText = `${facts.join('\n')}\n`
  if (terminal.columns !== undefined) return terminal.out(`${text}\n${factsText}`)
  await terminal.out(text)
  terminal.err(factsText)
}

/** Formats a result for people, with the value first. */
function responseText(
  response: Exclude<OperationResponse, GeometryResponse | NearestResponse>,
  names: readonly string[],
): string {
  const { operation, inputRefs, inputSalts = [], notes, timestamp } = response
  const refs = inputRefs.map((ref, index) => `${(names[index] ?? 'input').padEnd(11)}${ref}`)
  refs.push(...inputSalts.map((salt) => `${'salt'.padEnd(11)}${salt ?? 'none'}`))
  const noteLines = (notes ?? []).map((note) => `${'note'.padEnd(11)}${noteText(note)}`)
  if ('matrix' in response) {
    const computed = `${'computed'.padEnd(11)}${timeText(timestamp)}, not signed`
    return [response.matrix, '', ...matrixLines(response.matrix), '', ...refs, ...noteLines, computed, ''].join('\n')
  }
  const { result, attestation, delegatedAttestation } = response
  const kind = typeof result === 'boolean' ? 'boolean' : 'numeric'
  const signed = readSignedData(kind, attestation.data)
  const statement = signed.ok ? describeData(signed.value, attestation.recipient) : 'the signed data cannot be read'
  return [
    resultText(response),
    '',
    statement,
    ...refs,
    `${'operation'.padEnd(11)}${operation}`,
    ...noteLines,
    `${'attester'.padEnd(11)}${attestation.attester}`,
    `${'signed'.padEnd(11)}${timeText(timestamp)}, nonce ${delegatedAttestation.nonce}, can be submitted until ${timeText(delegatedAttestation.deadline)}`,
    '',
  ].join('\n')
}

function geometryFacts({ ref, inputRefs, timestamp, ...others }: GeometryResponse, names: readonly string[]): string[] {
  const facts: string[] = [`${'ref'.padEnd(11)}${ref}`]
  if ('azimuthDegrees' in others) facts.push(`${'azimuth'.padEnd(11)}${others.azimuthDegrees}° at the end`)
  if ('lengthMeters' in others) facts.push(`${'length'.padEnd(11)}${others.lengthMeters} m`)
  if ('errorMeters' in others) facts.push(`${'error'.padEnd(11)}at most ${others.errorMeters} m`)
  if ('changes' in others) facts.push(...repairLines(others))
  const refs = inputRefs.map((input, index) => `${(names[index] ?? 'input').padEnd(11)}${input}`)
  return [...facts, ...refs, `${'computed'.padEnd(11)}${timeText(timestamp)}, not signed`]
}

function repairLines({
  changes,
  omittedChanges = 0,
  areaMovedSquareMeters,
}: Pick<RepairResponse, 'changes' | 'omittedChanges' | 'areaMovedSquareMeters'>) {
  const lines = changes.map(({ detail, pointer, place }) => `at ${place.join(',')} (${pointer}): ${detail}`)
  if (omittedChanges > 0) lines.push(`and ${omittedChanges} more`)
  if (lines.length === 0) lines.push('none: it was valid')
  return [
    ...lines.map((line, index) => `${(index === 0 ? 'changes' : '').padEnd(11)}${line}`),
    `${'moved'.padEnd(11)}${areaMovedSquareMeters} m²`,
  ]
}

function nearestFacts({ from, to, distanceMeters, inputRefs, timestamp }: NearestResponse): string[] {
  const places = [from, to].map(({ ref, azimuthDegrees }, index) => {
    const direction = azimuthDegrees === undefined ? '' : `, azimuth ${azimuthDegrees}°`
    return `${['from', 'to'][index]!.padEnd(11)}${ref}${direction}, on ${inputRefs[index]}`
  })
  const distance = `${'distance'.padEnd(11)}${distanceMeters} m`
  return [distance, ...places, `${'computed'.padEnd(11)}${timeText(timestamp)}, not signed`]
}

/** Formats a matrix as a table: rows for the first geometry, columns for the second. */
function matrixLines(matrix: string): string[] {
  const places = ['interior', 'boundary', 'exterior']
  const row = (head: string, cells: readonly string[]) =>
    (head.padEnd(11) + cells.map((cell) => cell.padEnd(10)).join('')).trimEnd()
  return [row('', places), ...places.map((place, index) => row(place, [...matrix.slice(3 * index, 3 * index + 3)]))]
}

/** Formats the value with exactly the digits of the result: `4,238.77 m`. */
function resultText(response: ComputeResponse): string {
  if (typeof response.result === 'boolean') return String(response.result)
  const isArea = response.units === 'square_meters'
  return `${response.result.toLocaleString('en-US', { minimumFractionDigits: isArea ? 4 : 2, maximumFractionDigits: isArea ? 4 : 2 })} ${isArea ? 'm²' : 'm'}`
}
