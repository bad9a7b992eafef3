/** The GraphQL schema. Members, parameter names and limits are the same as in the record API. */
export const GRAPHQL_SCHEMA = `"""
Location records: location attestations read from their chains
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
    "value of next from the previous page, instead of an offset"
    cursor: String
  ): LocationRecordPage!
  "null if there is no such record"
  locationRecord("0x and 64 hex digits" uid: String!): LocationRecord
  locationRecordStats: LocationRecordStats!
}

type LocationRecordPage {
  data: [LocationRecord!]!
  "number of all matching records, not only of this page"
  count: Int!
  "True if count is an estimate, because counting would take too long."
  countIsEstimated: Boolean!
  limit: Int!
  offset: Int!
  "cursor of the next page; null at the end"
  next: String
}

type LocationRecord {
  uid: String!
  chain: String!
  "the attester"
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
  "only for points"
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
  "whether the block is final on its chain"
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
