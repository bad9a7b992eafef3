import { findMisplacedSalt } from '../../base/misplaced-salt.ts'
import { isObject } from '../../client/forms.ts'
import type { PointLike, Sets } from '../../client/sets.ts'
import type { MatchLine } from '../../types/generated.ts'
import type { Composer, Feeder } from '../batch/feeder.ts'
import {
  type FileRun,
  type FileRunOptions,
  type InputFile,
  openInput,
  processItems,
  requireDistinctFiles,
  runFile,
  sendAll,
} from '../batch/file-run.ts'
import { type MatchColumns, matchFormat } from '../batch/match-format.ts'
import { formatOfName, type OutputFormat } from '../batch/output-format.ts'
import { type ExitCode, usage } from '../exit-codes.ts'
import { readInput } from '../inputs/read-input.ts'
import { readFileBytes } from '../inputs/source.ts'
import { isPlaceText, type SourceItem } from '../inputs/source-item.ts'
import { createServiceClient, DEFAULT_CHAIN_ID } from '../options.ts'
import { formatCount, type Terminal } from '../terminal.ts'

export interface MatchVerbOptions extends FileRunOptions {
  readonly predicate?: 'contains' | 'intersects'
  readonly within?: number
  readonly nearest?: number
  readonly limit?: number
  readonly properties?: string | true
  readonly attest?: 'each' | 'none'
  readonly recipient?: string
  readonly chainId?: number
}

/** Points per request, and concurrent requests. */
const CHUNK_POINTS = 1000
const CONCURRENCY = 2

/** Runs `trigpoint sets match`. @returns 1 if points were rejected */
export async function runMatch(
  name: string,
  file: string,
  givenOptions: MatchVerbOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const isOnePoint = isPlaceText(file) || file.startsWith('{')
  const options: MatchVerbOptions = isOnePoint ? { ...givenOptions, format: 'ndjson' } : givenOptions
  const formatName = selectFormat(options)
  const input = isOnePoint
    ? await openInput('-', onePoint(file, terminal), options, 'the point')
    : await openInput(file, readFileBytes(file, terminal), options)
  requireDistinctFiles(input.file, options)
  await requirePoints(input)
  const { predicate, within, nearest, limit, properties, attest, recipient, chainId = DEFAULT_CHAIN_ID } = options
  const { sets } = await createServiceClient(options, terminal, chainId)
  // A run that began without the set could not be resumed under another name.
  const { created } = await sets.get(name, { signal: terminal.signal })
  const names = typeof properties === 'string' ? properties.split(',') : properties
  const columns: MatchColumns = {
    hasDistance: within !== undefined || nearest !== undefined,
    properties: formatName === 'ndjson' ? [] : await propertyNames(sets, name, names, terminal.signal),
  }
  const call = { predicate, withinMeters: within, nearest, limit, properties: names, attest, recipient }
  let truncated = 0
  async function* send(points: readonly PointLike[]): AsyncGenerator<MatchLine, void, undefined> {
    for await (const line of sets.match(name, points, { ...call, signal: terminal.signal })) {
      if (line.truncated === true) truncated++
      yield line
    }
  }
  const process = (run: FileRun) =>
    processItems(run, composePoint, (feeder: Feeder<PointLike>, flush) =>
      sendAll(feeder, flush, { compose: composePoint, concurrency: CONCURRENCY, chunkItems: CHUNK_POINTS, send }, run),
    )
  const { format, columns: inputColumns, errors } = options
  const identity = { set: name, created, ...call, chainId, format, columns: inputColumns, errors, output: formatName }
  const task = {
    format: matchFormat(formatName, columns),
    identity,
    atLimit: '; each point counts as one request',
    process,
  }
  const exitCode = await runFile(input, task, options, terminal)
  if (truncated > 0)
    terminal.err(`${formatCount(truncated, 'point has', 'points have')} more matches than --limit allows\n`)
  return exitCode
}

/** @throws {CommandError} if matches are to be signed in a format without signatures */
function selectFormat({ output, outputFormat, attest }: MatchVerbOptions): OutputFormat['name'] {
  const name = outputFormat ?? (output === '-' ? 'ndjson' : formatOfName(output, 'matches.geojsonl'))
  if (name === 'ndjson' || attest !== 'each') return name
  throw usage(`${name} has no signatures: give another --output, --output-format ndjson or --attest none`)
}

async function* onePoint(text: string, terminal: Terminal): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from(JSON.stringify(await readInput(text, terminal)))
}

/** Makes the line of a point: its geometry and its id. */
const composePoint: Composer<PointLike> = ({ value, id }, number) => {
  if (!isObject(value)) return { fault: 'is not a JSON object' }
  if (findMisplacedSalt(value) !== undefined) return { fault: 'has a salt, and a point of a match has none' }
  const point = value['type'] === 'Feature' ? { type: 'Feature', geometry: value['geometry'] } : value
  return { item: { ...point, id: id ?? number } as PointLike }
}

/** @throws {CommandError} if no readable item at the beginning of the file is a point: then it is probably the wrong file */
async function requirePoints({ name, firstItems }: InputFile): Promise<void> {
  const readable = (await firstItems()).filter(({ fault }) => fault === undefined)
  const [first] = readable
  if (first === undefined || readable.some((item) => typeOf(item) === 'Point')) return
  throw usage(
    `${name}: ${first.place}: is ${typeOf(first) ?? 'no geometry'}, and sets match takes points; \`trigpoint sets put\` stores zones`,
  )
}

function typeOf({ value }: SourceItem): unknown {
  if (!isObject(value)) return undefined
  const geometry = value['type'] === 'Feature' ? value['geometry'] : value
  return isObject(geometry) ? geometry['type'] : undefined
}

/** Returns the names of the properties that are columns. For all properties it reads the features of the set. */
async function propertyNames(
  sets: Sets,
  name: string,
  asked: readonly string[] | true | undefined,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (asked !== true) return asked ?? []
  const names = new Set<string>()
  for await (const { properties } of sets.features(name, { signal }))
    for (const property of Object.keys(properties ?? {})) names.add(property)
  return [...names]
}
