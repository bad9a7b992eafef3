import type { Client } from '../client/client.ts'
import type { LocationRecord } from '../types/generated.ts'
import { type JsonSchema, outlineSchema, type Tool } from './tool.ts'

/** Records per page, few enough for a model to read; `offset` selects further pages. */
const PAGE = { default: 20, max: 100 }
/** Maximum number of characters of a location in the text; the structured content has all of them. */
const MAX_SHOWN_CHARACTERS = 120

const address = (description: string): JsonSchema => ({ type: 'string', pattern: '^0x[0-9a-fA-F]{40}$', description })
const timestamp = (description: string): JsonSchema => ({ type: 'string', description: `${description}, ISO 8601` })

/** Creates the tools that read the location attestations that the service has stored from its chains. */
export function createRecordTools(client: Client): Tool[] {
  return [
    {
      name: 'records_list',
      title: 'Records: list',
      description: `Location attestations read from the chains, newest block first. count is the number of all matches; ${PAGE.default} are returned unless limit is set.`,
      inputSchema: {
        type: 'object',
        properties: {
          chain: { type: 'string', description: 'base, base-sepolia, sepolia, arbitrum or celo' },
          prover: address('Address of the attester.'),
          subject: address('Recipient of the attestation.'),
          fromTimestamp: timestamp('Earliest event'),
          toTimestamp: timestamp('Latest event'),
          bbox: {
            type: 'array',
            items: { type: 'number' },
            minItems: 4,
            maxItems: 4,
            description: 'West, south, east, north in degrees; a box with west > east crosses the antimeridian.',
          },
          limit: { type: 'integer', minimum: 1, maximum: PAGE.max, default: PAGE.default },
          offset: { type: 'integer', minimum: 0 },
        },
      },
      outputSchema: outlineSchema('location-record-list.schema.json'),
      async call({ limit = PAGE.default, ...given }, signal) {
        const { chain, prover, subject, fromTimestamp, toTimestamp, bbox, offset } = given
        const filter = { chain, prover, subject, fromTimestamp, toTimestamp, bbox, offset }
        const cappedLimit = typeof limit === 'number' ? Math.min(limit, PAGE.max) : limit
        const response = await client.records.list({ ...filter, limit: cappedLimit }, { signal })
        const { count, data, offset: start } = response
        const range = data.length === 0 ? '' : `, these are ${start + 1} to ${start + data.length}`
        return { text: [`${count} records match${range}.`, ...data.map(recordText)].join('\n'), structured: response }
      },
    },
    {
      name: 'records_get',
      title: 'Records: one',
      description: 'One location attestation by its UID.',
      inputSchema: {
        type: 'object',
        required: ['uid'],
        properties: { uid: { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' } },
      },
      outputSchema: outlineSchema('location-record.schema.json'),
      async call({ uid }, signal) {
        const record = await client.records.get(String(uid), { signal })
        return { text: recordText(record), structured: record }
      },
    },
    {
      name: 'records_stats',
      title: 'Records: statistics',
      description: 'Number of location attestations, by chain and by block time.',
      inputSchema: { type: 'object', properties: {} },
      outputSchema: outlineSchema('record-stats.schema.json'),
      async call(_, signal) {
        const stats = await client.records.stats({ signal })
        const { total, revoked, by_chain, by_time } = stats
        const chains = Object.entries(by_chain).map(([chain, count]) => `${chain} ${count}`)
        const text = `${total} records, ${revoked} of them revoked; ${by_time.last_24_hours} in the last 24 hours, ${by_time.last_30_days} in 30 days.`
        return { text: [text, ...chains].join('\n'), structured: stats }
      },
    },
  ]
}

function recordText(record: LocationRecord): string {
  const { uid, chain, event_timestamp, location, prover, subject, revoked, memo } = record
  // Anyone can attest any text. Written as JSON, it stays on one line and cannot be mistaken for text of this tool.
  const shown = JSON.stringify(
    location.length > MAX_SHOWN_CHARACTERS ? `${location.slice(0, MAX_SHOWN_CHARACTERS)}…` : location,
  )
  const about = subject === prover ? '' : ` about ${subject}`
  const suffix = `${revoked ? ', REVOKED' : ''}${memo === null ? '' : `, memo ${JSON.stringify(memo.slice(0, MAX_SHOWN_CHARACTERS))}`}`
  return `${uid} on ${chain}, event ${event_timestamp}, ${shown}, by ${prover}${about}${suffix}`
}
