/** Map tiles for the explorer, from a PMTiles file that the operator supplies (`MAP_TILES`). */
import { closeSync, openSync, readSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { PMTiles, type Source } from 'pmtiles'
import { ProblemError } from '../../base/problem.ts'
import { ConfigError } from '../../config/setting.ts'
import type { Route, RouteResult } from './route.ts'
import { getRoute } from './route.ts'

const NONE = { tilejson: '3.0.0', tiles: [] }
/** Bytes of the header of a PMTiles file: its magic number, its version, and the type of its tiles. */
const HEADER = { magic: 'PMTiles', version: 3, versionAt: 7, typeAt: 99, vectorTiles: 1, bytes: 127 }

/**
 * Returns the routes of the map tiles.
 *
 * @param file one that `checkTiles` has accepted; undefined if the operator supplies no tiles
 */
export function tileRoutes(file: string | undefined): Route[] {
  const archive = file === undefined ? undefined : new PMTiles(new LocalFile(file))
  return [
    getRoute(
      '/tiles',
      'the map tiles of the explorer, as TileJSON; tiles is empty if there are none',
      async (request) => {
        const document = archive === undefined ? NONE : await tileJson(archive, request.baseUrl)
        return { json: JSON.stringify(document) }
      },
    ),
    getRoute('/tiles/*', 'one map tile: /tiles/{z}/{x}/{y}.mvt', ({ parameter }) => tileAnswer(archive, parameter)),
  ]
}

async function tileJson(archive: PMTiles, baseUrl: string): Promise<object> {
  const [header, metadata] = await Promise.all([archive.getHeader(), archive.getMetadata()])
  const { vector_layers = [], attribution = '' } = metadata as { vector_layers?: unknown; attribution?: unknown }
  return {
    tilejson: '3.0.0',
    tiles: [`${baseUrl}/tiles/{z}/{x}/{y}.mvt`],
    minzoom: header.minZoom,
    maxzoom: header.maxZoom,
    bounds: [header.minLon, header.minLat, header.maxLon, header.maxLat],
    vector_layers,
    attribution,
  }
}

async function tileAnswer(archive: PMTiles | undefined, path: string): Promise<RouteResult> {
  const [, z, x, y] = /^(\d{1,2})\/(\d{1,9})\/(\d{1,9})\.mvt$/.exec(path)?.map(Number) ?? []
  const isTile = z !== undefined && x !== undefined && y !== undefined && z <= 26 && x < 2 ** z && y < 2 ** z
  if (archive === undefined || !isTile)
    throw new ProblemError({ type: 'not-found', detail: 'there is no such map tile; GET /tiles describes them' })
  const tile = await archive.getZxy(z, x, y)
  const headers = { 'Content-Type': 'application/vnd.mapbox-vector-tile', 'Cache-Control': 'public, max-age=3600' }
  // A tile without data gets an empty body: it is sea, or outside the area that the file covers.
  return { kind: 'asset', json: new Uint8Array(tile?.data ?? new ArrayBuffer(0)), headers }
}

/**
 * Checks the file of the map tiles before the service starts.
 *
 * @throws {ConfigError} if it cannot be read, or has no vector tiles
 */
export function checkTiles(file: string): void {
  const header = Buffer.alloc(HEADER.bytes)
  try {
    const descriptor = openSync(file, 'r')
    readSync(descriptor, header, 0, HEADER.bytes, 0)
    closeSync(descriptor)
  } catch (error) {
    throw new ConfigError(`MAP_TILES: ${(error as Error).message}`)
  }
  const isArchive = header.toString('latin1', 0, 7) === HEADER.magic && header[HEADER.versionAt] === HEADER.version
  if (!isArchive) throw new ConfigError(`MAP_TILES: ${file} is not a PMTiles file of version ${HEADER.version}`)
  if (header[HEADER.typeAt] !== HEADER.vectorTiles) throw new ConfigError(`MAP_TILES: ${file} has no vector tiles`)
}

/** Reads parts of a file; opens it at the first read. */
class LocalFile implements Source {
  readonly #file: string
  #handle: Promise<FileHandle> | undefined

  constructor(file: string) {
    this.#file = file
  }

  getKey(): string {
    return this.#file
  }

  async getBytes(offset: number, length: number): Promise<{ data: ArrayBuffer }> {
    this.#handle ??= open(this.#file)
    const { buffer, bytesRead } = await (await this.#handle).read(Buffer.alloc(length), 0, length, offset)
    return { data: buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + bytesRead) }
  }
}
