import { isObject, toInput } from '../../client/forms.ts'
import { formatSignature } from '../../crypto/signature.ts'
import { checkShape } from '../../geometry/check-shape.ts'
import type { Geometry, LocationStamp } from '../../types/generated.ts'
import { type StampMessage, StampMessages } from '../../verify/message.ts'
import { usage } from '../exit-codes.ts'
import { readInput, readJsonFile } from '../inputs/read-input.ts'
import { type Account, readAccount } from '../key-file.ts'
import { outJson, type Terminal } from '../terminal.ts'

interface KeyOptions {
  readonly key?: string
  readonly passwordFile?: string
}

export interface StampCreateOptions extends KeyOptions {
  readonly at: string
  readonly start?: string
  readonly seconds: number
  readonly accuracy: number
  readonly plugin: string
  readonly signal?: readonly string[]
}

/** Runs `trigpoint stamp create`. The same options, key and start give the same stamp. */
export async function createStamp(options: StampCreateOptions, terminal: Terminal): Promise<void> {
  const { at, seconds, accuracy, plugin } = options
  const location = await readGeometry(at, terminal)
  const start = options.start === undefined ? Math.floor(terminal.now() / 1000) : parseSeconds(options.start)
  const signals: Record<string, unknown> = { ...(plugin === 'mock' ? { provider: 'mock' } : {}), accuracy }
  if (location.type === 'Point') {
    const [longitude, latitude] = location.coordinates
    Object.assign(signals, { latitude, longitude })
  }
  for (const text of options.signal ?? []) Object.assign(signals, parseSignal(text))
  const stamp: LocationStamp = {
    lpVersion: '0.2',
    locationType: location.type === 'Point' ? 'geojson-point' : 'geojson',
    location,
    srs: 'EPSG:4326',
    temporalFootprint: { start, end: start + seconds },
    plugin,
    pluginVersion: '0.1.0',
    signals,
    signatures: [],
  }
  await print(stamp, options, terminal)
}

/** Runs `trigpoint stamp sign`. */
export async function signStampFile(
  file: string,
  options: KeyOptions & { readonly replace?: boolean },
  terminal: Terminal,
): Promise<void> {
  if (options.key === undefined) throw usage('--key is missing: the signer, a key file of `trigpoint keygen`')
  const value = await readJsonFile(file, terminal)
  const { signatures, temporalFootprint } = isObject(value) ? value : {}
  if (!isObject(temporalFootprint) || typeof temporalFootprint['start'] !== 'number') {
    throw usage(`${file}: not a stamp: it has no temporalFootprint with a start`)
  }
  if (signatures !== undefined && !Array.isArray(signatures)) throw usage(`${file}: signatures is not an array`)
  const existingSignatures = options.replace === true ? [] : ((signatures ?? []) as LocationStamp['signatures'])
  await print({ ...(value as unknown as LocationStamp), signatures: existingSignatures }, options, terminal)
}

async function print(stamp: LocationStamp, { key, passwordFile }: KeyOptions, terminal: Terminal): Promise<void> {
  if (key === undefined) {
    terminal.err('not signed: give the signer with --key\n')
    return outJson(terminal, stamp)
  }
  await outJson(terminal, addSignature(stamp, await readAccount(key, passwordFile)))
}

/** Returns the stamp with an additional signature (EIP-191) over its canonical text. */
function addSignature(stamp: LocationStamp, { privateKey, address, secp256k1, keccak }: Account): LocationStamp {
  let message: StampMessage
  try {
    message = new StampMessages(stamp, keccak).canonical
  } catch (error) {
    if (error instanceof RangeError) throw usage(`the stamp cannot be signed: ${error.message}`, error)
    throw error
  }
  const value = formatSignature(secp256k1.sign(message.eip191(), privateKey))
  const signer = { scheme: 'eth-address', value: address.toLowerCase() }
  const signature = { signer, algorithm: 'secp256k1', value, timestamp: stamp.temporalFootprint.start }
  return { ...stamp, signatures: [...stamp.signatures, signature] } as LocationStamp
}

async function readGeometry(text: string, terminal: Terminal): Promise<Geometry> {
  const input = toInput(await readInput(text, terminal))
  const checked = checkShape(input)
  if (!checked.ok) throw usage(`--at ${checked.reason}`)
  return checked.geometry
}

function parseSeconds(text: string): number {
  const seconds = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Date.parse(text) / 1000
  if (Number.isFinite(seconds)) return seconds
  throw usage(`--start ${JSON.stringify(text)} is not a time: give 2026-01-01T00:00:00Z or Unix seconds`)
}

function parseSignal(text: string): Record<string, unknown> {
  const equals = text.indexOf('=')
  if (equals < 1) throw usage(`--signal ${JSON.stringify(text)} is not name=value`)
  const value = text.slice(equals + 1)
  try {
    return { [text.slice(0, equals)]: JSON.parse(value) }
  } catch {
    return { [text.slice(0, equals)]: value }
  }
}
