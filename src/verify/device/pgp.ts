import type { DeviceTrust } from '../../wire/compute-messages.ts'
import { verifyDetached } from '../openpgp/keyring.ts'
import type { CheckCollector, PluginContext } from '../plugin.ts'
import { asObject, readSignal, readText } from '../signals.ts'

/** The most members of one record. */
const MAX_MEMBERS = 500

/**
 * Reads the record that a device signed, as names and texts. It is a JSON object, or CSV (RFC 4180) with a line of
 * names and a line of values, or CSV with a name and a value on each line.
 *
 * @returns undefined when it has another form, or when a name is repeated
 */
export function readRecord(text: string): ReadonlyMap<string, string> | undefined {
  const entries = text.trimStart().startsWith('{') ? jsonEntries(text) : csvEntries(text)
  if (entries === undefined || entries.length === 0 || entries.length > MAX_MEMBERS) return undefined
  const record = new Map(entries)
  return record.size === entries.length ? record : undefined
}

function jsonEntries(text: string): [string, string][] | undefined {
  try {
    const object = asObject(JSON.parse(text))
    if (object === undefined) return undefined
    const entries = Object.entries(object).map(([name, value]): [string, string] => [name, toRecordText(value)])
    return entries.length === countMembers(text) ? entries : undefined
  } catch {
    return undefined
  }
}

/**
 * Counts the members of the outermost object in JSON text. Needed to detect repeated names: `JSON.parse` silently keeps
 * the last one, while another parser may keep the first.
 */
function countMembers(text: string): number {
  let [depth, count] = [0, 0]
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
    else if (token === ':' && depth === 1) count++
  }
  return count
}

/** Converts a signal or a JSON value to the text that a CSV record has for it. */
function toRecordText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === null || value === undefined ? '' : JSON.stringify(value)
}

function csvEntries(text: string): [string, string][] | undefined {
  const rows = csvRows(text)?.filter((row) => row.join('') !== '')
  if (rows === undefined || rows.length === 0) return undefined
  const [names, values] = rows as [string[], string[] | undefined]
  if (rows.length === 2 && values !== undefined && names.length === values.length) {
    // A separator after the last name adds an empty name.
    return names.flatMap((name, index): [string, string][] => (name === '' ? [] : [[name, values[index]!]]))
  }
  return rows.every((row) => row.length === 2) ? rows.map((row): [string, string] => [row[0]!, row[1]!]) : undefined
}

/** @returns undefined when a quote is not closed or is inside an unquoted field */
function csvRows(text: string): string[][] | undefined {
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y
  const rows: string[][] = [[]]
  while (field.lastIndex < text.length) {
    const match = field.exec(text)
    if (match === null) return undefined
    const [, quoted, plain = '', separator] = match
    rows.at(-1)!.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (separator === ',' && field.lastIndex === text.length) rows.at(-1)!.push('')
    else if (separator !== ',' && separator !== '') rows.push([])
  }
  return rows
}

/** Both the signals and the signed record must have these members, or the signature proves nothing about position and time. */
const POSITION_AND_TIME = ['Location.Latitude', 'Location.Longitude', 'Location.Time']

/** The facts that are reported about an OpenPGP key that signed the record. */
export interface PgpFacts {
  readonly fingerprint: string
  readonly signedMembers: number
}

/**
 * Checks the OpenPGP signature of the recording application, if the stamp has key, signature and signed bytes
 * (`PGP.PublicKey`, `PGP.MetadataSignature`, `PGP.Metadata`), and that the signals equal what was signed.
 *
 * @returns undefined when nothing was verified, or when the signals differ from what was signed
 */
export function checkPgp(context: PluginContext, trust: DeviceTrust, checks: CheckCollector): PgpFacts | undefined {
  const { signals, nowSeconds, stamp } = context
  const key = readText(signals, 'PGP.PublicKey') ?? ''
  const signature = readText(signals, 'PGP.MetadataSignature') ?? ''
  if (key === '' && signature === '') return undefined
  const record = readText(signals, 'PGP.Metadata') ?? ''
  const missing = [
    key === '' ? 'PGP.PublicKey' : '',
    signature === '' ? 'PGP.MetadataSignature' : '',
    record === '' ? 'PGP.Metadata' : '',
  ].filter((name) => name !== '')
  if (missing.length > 0) {
    checks.info('pgp-unverifiable', `${missing.join(', ')} missing`)
    return undefined
  }
  const verdict = verifyDetached(key, signature, record, nowSeconds)
  checks.fail('pgp-signature', verdict.ok, verdict.ok ? verdict.fingerprint : verdict.reason, 'of PGP.PublicKey')
  if (!verdict.ok) return undefined
  const { pgpFingerprints } = trust
  if (pgpFingerprints.length > 0) {
    const isPinned = pgpFingerprints.includes(verdict.fingerprint)
    checks.fail('pgp-key-pinned', isPinned, verdict.fingerprint, 'a key of the operator')
  }
  const differenceSeconds = Math.abs(verdict.createdSeconds - stamp.temporalFootprint.start)
  checks.warn('pgp-signature-time', differenceSeconds <= 86_400, differenceSeconds, 86_400)
  const signedMembers = checkRecord(record, context, checks)
  return signedMembers === undefined ? undefined : { fingerprint: verdict.fingerprint, signedMembers }
}

/** @returns the number of signed members; undefined when they differ from the signals */
function checkRecord(text: string, { signals }: PluginContext, checks: CheckCollector): number | undefined {
  const record = readRecord(text)
  checks.fail('pgp-record', record !== undefined, record?.size ?? 'neither JSON nor CSV', 'names and values')
  if (record === undefined) return undefined
  // Required on both sides: without the time among the signals, a record of last year could be presented as today's.
  const missing = POSITION_AND_TIME.filter((name) => readSignal(signals, name) === undefined || !record.has(name))
  checks.fail('pgp-record-covers', missing.length === 0, missing.join(' ') || 'all', POSITION_AND_TIME.join(' '))
  const different = [...record].filter(([name, value]) => {
    const signal = readSignal(signals, name)
    return signal !== undefined && toRecordText(signal) !== value
  })
  checks.fail('pgp-record-equal', different.length === 0, different.map(([name]) => name).join(' ') || 'equal', 'equal')
  return missing.length === 0 && different.length === 0 ? record.size : undefined
}
