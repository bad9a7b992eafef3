import type { Client } from '../client/client.ts'
import type { LocationRecord } from '../types/generated.ts'
import { standaloneSchema } from './standalone-schema.ts'
import type { JsonSchema, Tool } from './tool.ts'

/** A page that a model can read; more are asked for by `offset`. */
const PAGE = { usual: 20, most: 100 }
/** Most characters of a location that a text shows; all of it stands beside it. */
const MOST_SHOWN = 120

const address = (description: string): JsonSchema => ({ type: 'string', pattern: '^0x[0-9a-fA-F]{40}$', description })
const moment = (description: string): JsonSchema => ({ type: 'string', description: `${description}, ISO 8601` })

/** Tools that read location attestations which the service gathered from its chains. */
export function recordTools(client: Client): Tool[] {
  return [
    {
      name: 'records_list',
      title: 'Records: list',
      description: `Location attestations read from the chains, newest block first. count is how many match in all; ${PAGE.usual} are given unless limit says otherwise.`,
      inputSchema: {
        type: 'object',
        properties: {
          chain: { type: 'string', description: 'base, base-sepolia, sepolia, arbitrum or celo' },
          prover: address('Who attested.'),
          subject: address('Recipient of the attestation.'),
          fromTimestamp: moment('Events since'),
          toTimestamp: moment('Events until'),
          bbox: {
            type: 'array',
            items: { type: 'number' },
            minItems: 4,
            maxItems: 4,
            description: 'West, south, east, north in degrees; west above east crosses the antimeridian.',
          },
          limit: { type: 'integer', minimum: 1, maximum: PAGE.most, default: PAGE.usual },
          offset: { type: 'integer', minimum: 0 },
        },
      },
      outputSchema: standaloneSchema('location-record-list.schema.json'),
      async call({ limit = PAGE.usual, ...given }, signal) {
        const { chain, prover, subject, fromTimestamp, toTimestamp, bbox, offset } = given
        const filter = { chain, prover, subject, fromTimestamp, toTimestamp, bbox, offset }
        const most = typeof limit === 'number' ? Math.min(limit, PAGE.most) : limit
        const answer = await client.records.list({ ...filter, limit: most }, { signal })
        const { count, data, offset: start } = answer
        const range = data.length === 0 ? '' : `, these are ${start + 1} to ${start + data.length}`
        return { text: [`${count} records match${range}.`, ...data.map(recordText)].join('\n'), structured: answer }
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
      outputSchema: standaloneSchema('location-record.schema.json'),
      async call({ uid }, signal) {
        const record = await client.records.get(String(uid), { signal })
        return { text: recordText(record), structured: record }
      },
    },
    {
      name: 'records_stats',
      title: 'Records: statistics',
      description: 'How many location attestations there are, by chain and by time of the block.',
      inputSchema: { type: 'object', properties: {} },
      outputSchema: standaloneSchema('record-stats.schema.json'),
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
  // Anybody attests anything: as JSON it stays in its line, where it cannot pass for words of this tool.
  const shown = JSON.stringify(location.length > MOST_SHOWN ? `${location.slice(0, MOST_SHOWN)}…` : location)
  const about = subject === prover ? '' : ` about ${subject}`
  const rest = `${revoked ? ', REVOKED' : ''}${memo === null ? '' : `, memo ${JSON.stringify(memo.slice(0, MOST_SHOWN))}`}`
  return `${uid} on ${chain}, event ${event_timestamp}, ${shown}, by ${prover}${about}${rest}`
}
