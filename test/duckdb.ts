/** DuckDB, as a reader of Parquet written by others. It is a native library, which exists only for some platforms. */
const found = await import('@duckdb/node-api').catch(() => undefined)

export const HAS_DUCKDB = found !== undefined
if (!HAS_DUCKDB) console.warn('skipped with DuckDB: @duckdb/node-api has no library for this platform')

/**
 * Runs a query in a database in memory, and returns its rows as JSON values. Nothing is downloaded.
 *
 * @param readsGeoParquet true if the column that the metadata names is a geometry; otherwise it is the bytes in the file
 */
export async function queryDuckdb(sql: string, readsGeoParquet = false): Promise<Record<string, unknown>[]> {
  const instance = await found!.DuckDBInstance.create(':memory:', { autoinstall_known_extensions: 'false' })
  const connection = await instance.connect()
  try {
    await connection.run(`set enable_geoparquet_conversion = ${readsGeoParquet}`)
    return (await connection.runAndReadAll(sql)).getRowObjectsJson()
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}
