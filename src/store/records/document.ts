import { type LocationRecord, StoreFault } from '../../wire/store-messages.ts'

/**
 * Serializes a record as the JSON text that every client gets. This happens once, when the record is stored. JSON escapes
 * U+0000 and lone surrogates, which PostgreSQL rejects in text.
 *
 * @param storedAt time of storing, ISO 8601 with milliseconds
 * @throws {StoreFault} on times beyond the year 9999, which ISO 8601 writes differently
 */
export function serializeRecord(record: LocationRecord, storedAt: string): string {
  return (
    `{"uid":"${record.uid}","chain":${JSON.stringify(record.chain)},"prover":"${record.prover}","subject":"${record.subject}",` +
    `"timestamp":"${formatTime(record.timeSeconds)}","event_timestamp":"${formatTime(record.eventTimeSeconds)}",` +
    `"srs":${JSON.stringify(record.srs)},"location_type":${JSON.stringify(record.locationType)},` +
    `"location":${JSON.stringify(record.location)},` +
    `"longitude":${writeCoordinate(record.longitude)},"latitude":${writeCoordinate(record.latitude)},` +
    `"recipe_types":${JSON.stringify(record.recipeTypes)},"recipe_payloads":${JSON.stringify(record.recipePayloads)},` +
    `"media_types":${JSON.stringify(record.mediaTypes)},"media_data":${JSON.stringify(record.mediaData)},` +
    `"memo":${JSON.stringify(record.memo)},${writeTail(false, storedAt, storedAt)}`
  )
}

/** Returns the document with its `revoked` member set, and with `changedAt` as the time of the update. */
export function setRevoked(document: string, isRevoked: boolean, changedAt: string): string {
  const tailStart = document.lastIndexOf('"revoked":') // the last match is the member: quotes within values are escaped
  const [createdAt] = /(?<="created_at":")[^"]*/.exec(document.slice(tailStart))!
  return document.slice(0, tailStart) + writeTail(isRevoked, createdAt, changedAt)
}

function writeTail(isRevoked: boolean, createdAt: string, updatedAt: string): string {
  return `"revoked":${isRevoked},"created_at":"${createdAt}","updated_at":"${updatedAt}"}`
}

const LAST_SECOND = 253_402_300_799 // 9999-12-31T23:59:59Z

function formatTime(seconds: number): string {
  if (!(seconds >= 0 && seconds <= LAST_SECOND))
    throw new StoreFault('refused', `${seconds} s is not a time between 1970 and 9999`)
  return new Date(seconds * 1000).toISOString()
}

function writeCoordinate(degrees: number | null): string {
  if (degrees !== null && !Number.isFinite(degrees)) throw new StoreFault('refused', 'a coordinate is not a number')
  return JSON.stringify(degrees)
}
