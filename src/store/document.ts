import { type LocationRecord, StoreFault } from '../store-messages.ts'

/**
 * The record as every client gets it, written once when it is stored. As JSON text it keeps what a database refuses in text of
 * its own: U+0000 and lone surrogates stand in it as escapes.
 *
 * @param storedAt when it was stored, ISO 8601 with milliseconds
 * @throws {StoreFault} on times beyond the year 9999, which ISO 8601 spells otherwise
 */
export function documentOf(record: LocationRecord, storedAt: string): string {
  return (
    `{"uid":"${record.uid}","chain":${JSON.stringify(record.chain)},"prover":"${record.prover}","subject":"${record.subject}",` +
    `"timestamp":"${isoTime(record.timeSeconds)}","event_timestamp":"${isoTime(record.eventTimeSeconds)}",` +
    `"srs":${JSON.stringify(record.srs)},"location_type":${JSON.stringify(record.locationType)},` +
    `"location":${JSON.stringify(record.location)},` +
    `"longitude":${coordinate(record.longitude)},"latitude":${coordinate(record.latitude)},` +
    `"recipe_types":${JSON.stringify(record.recipeTypes)},"recipe_payloads":${JSON.stringify(record.recipePayloads)},` +
    `"media_types":${JSON.stringify(record.mediaTypes)},"media_data":${JSON.stringify(record.mediaData)},` +
    `"memo":${JSON.stringify(record.memo)},${tail(false, storedAt, storedAt)}`
  )
}

/** The same record, revoked or valid again, changed at `changedAt`. */
export function withRevoked(document: string, isRevoked: boolean, changedAt: string): string {
  const at = document.lastIndexOf('"revoked":') // the last one is ours: quotes within values are escaped
  const [createdAt] = /(?<="created_at":")[^"]*/.exec(document.slice(at))!
  return document.slice(0, at) + tail(isRevoked, createdAt, changedAt)
}

function tail(isRevoked: boolean, createdAt: string, updatedAt: string): string {
  return `"revoked":${isRevoked},"created_at":"${createdAt}","updated_at":"${updatedAt}"}`
}

const LAST_SECOND = 253_402_300_799 // 9999-12-31T23:59:59Z

function isoTime(seconds: number): string {
  if (!(seconds >= 0 && seconds <= LAST_SECOND))
    throw new StoreFault('refused', `${seconds} s is no time from 1970 to 9999`)
  return new Date(seconds * 1000).toISOString()
}

function coordinate(degrees: number | null): string {
  if (degrees !== null && !Number.isFinite(degrees)) throw new StoreFault('refused', 'a coordinate is not a number')
  return JSON.stringify(degrees)
}
