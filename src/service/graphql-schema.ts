/** Records as the record API shows them, member by member; names and bounds of the parameters are the same too. */
export const GRAPHQL_SCHEMA = `"""
Location records: attestations that were read from their chains
"""
type Query {
  """
  Newest first. The arguments are the parameters of GET /api/v0/location-records
  """
  locationRecords(
    chain: String
    "0x and 40 hex digits"
    prover: String
    "0x and 40 hex digits"
    subject: String
    "ISO 8601, by the time of the event"
    fromTimestamp: String
    toTimestamp: String
    "west, south, east, north in degrees; west above east crosses the antimeridian"
    bbox: [Float!]
    "1 to 1000"
    limit: Int = 100
    offset: Int
    "the next of another page, in place of an offset"
    cursor: String
  ): LocationRecordPage!
  "null when there is none"
  locationRecord("0x and 64 hex digits" uid: String!): LocationRecord
  locationRecordStats: LocationRecordStats!
}

type LocationRecordPage {
  data: [LocationRecord!]!
  "all that match, not those of this page"
  count: Int!
  limit: Int!
  offset: Int!
  "cursor of the next page; null at the end"
  next: String
}

type LocationRecord {
  uid: String!
  chain: String!
  "who attested"
  prover: String!
  "the recipient"
  subject: String!
  "time of the block"
  timestamp: String!
  event_timestamp: String!
  srs: String!
  location_type: String!
  "GeoJSON geometry as text"
  location: String!
  "of points alone"
  longitude: Float
  latitude: Float
  recipe_types: [String!]!
  recipe_payloads: [String!]!
  media_types: [String!]!
  media_data: [String!]!
  memo: String
  revoked: Boolean!
  created_at: String!
  updated_at: String!
  "whether its chain takes the block for final"
  finalized: Boolean!
}

type LocationRecordStats {
  total: Int!
  by_chain: [ChainCount!]!
  by_time: RecentCounts!
  revoked: Int!
}

type ChainCount {
  chain: String!
  count: Int!
}

type RecentCounts {
  last_24_hours: Int!
  last_7_days: Int!
  last_30_days: Int!
}
`
