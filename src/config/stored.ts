/** Settings of stored geometries. */
import { MAX_STREAM_BYTES } from './limits.ts'
import { constant, derived, integer } from './setting.ts'

export const STORED_LIMITS = {
  /** Bytes of canonical text that the geometries of one API key may take in the store. */
  maxStoredBytesPerKey: integer('STORED_MAX_BYTES_PER_KEY', 64 * 1_048_576, 1024, 1e12),
  /** The same for all keys together. */
  maxStoredBytes: integer('STORED_MAX_BYTES', 16_384 * 1_048_576, 1_048_576, 1e15),
  /** How long a geometry is kept after its last use. */
  storedKeepDays: integer('STORED_KEEP_DAYS', 30, 1, 3650),
  /** Bytes of geometries that one process keeps in memory, shared by its threads. */
  storedMemoryBytes: integer('STORED_MEMORY_BYTES', 128 * 1_048_576, 1_048_576, 1e12),
  /** Features of one set. */
  maxSetFeatures: constant(1_000_000),
  /** Size of one feature. A chunk and a feature must fit into half of `maxStreamBytes`, or an upload would never go on. */
  maxSetFeatureBytes: derived((source) => MAX_STREAM_BYTES.read(source) / 2 - 524_288),
  /** How long a process relies on what the store said of a geometry. Then it asks whether the geometry was deleted. */
  storedFreshMs: constant(1000),
}
