/**
 * Contenders in C++: small programs of `bench/native`, compiled into a temporary directory against what the machine has. They
 * read the same numbers as Trigpoint and time themselves, one process a round.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Contender } from './rounds.ts'

// This file runs as dist/bench/native.js; the programs are not copied there.
const sources = fileURLToPath(new URL('../../bench/native/', import.meta.url))
const SECONDS_TO_COMPILE = 120
const SECONDS_TO_RUN = 60
/** What GeographicLib's geodesics need of its sources. */
const GEOGRAPHICLIB_FILES = [
  ...['Geodesic', 'GeodesicLine', 'GeodesicExact', 'GeodesicLineExact', 'DST', 'EllipticFunction', 'Math'],
  ...['PolygonArea', 'Rhumb', 'Ellipsoid', 'AlbersEqualArea', 'TransverseMercator', 'Utility'],
]

interface Anchor {
  readonly name: string
  readonly program: string
  readonly options: readonly string[]
  /** pkg-config's name of the library, for its version. */
  readonly library: string
  /** Debian's package. */
  readonly from: string
}

const ANCHORS = {
  geographiclib: {
    name: 'GeographicLib C++, -O2 .so',
    program: 'geographiclib.cc',
    options: ['-O2', '-lGeographicLib'],
    library: 'geographiclib',
    from: 'libgeographiclib-dev',
  },
  proj: {
    name: 'PROJ geodesic.c, .so',
    program: 'proj.cc',
    options: ['-O2', '-lproj'],
    library: 'proj',
    from: 'libproj-dev',
  },
  geos: {
    name: 'GEOS C++, .so',
    program: 'geos.cc',
    options: ['-O2', '-lgeos_c'],
    library: 'geos',
    from: 'libgeos-dev',
  },
} as const satisfies Record<string, Anchor>

export type NativeProgram = keyof typeof ANCHORS | 'geographiclibNative'
export const NATIVE_NAMES: Readonly<Record<NativeProgram, string>> = {
  geographiclib: ANCHORS.geographiclib.name,
  proj: ANCHORS.proj.name,
  geos: ANCHORS.geos.name,
  geographiclibNative: 'GeographicLib C++, -O3 -march=native',
}

export interface Native {
  readonly folder: string
  /** Writes an input once; returns its path. */
  input(name: string, bytes: Uint8Array): string
  /** Contenders of those programs that there are. */
  contenders(programs: readonly NativeProgram[], task: string, input: string): Contender[]
  /** All results of a program for an input; undefined where it is not there. */
  results(program: NativeProgram, input: string): Float64Array | undefined
  close(): void
}

/** Compiles the programs that can be compiled here and prints one line for each one, with its version or why it is not there. */
export function openNative(programs: readonly NativeProgram[]): Native {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-bench-'))
  const built = new Map<NativeProgram, string>()
  for (const program of programs) {
    const target = join(folder, program)
    const missing = program === 'geographiclibNative' ? compileGeographicLib(target) : compile(ANCHORS[program], target)
    if (missing === undefined) built.set(program, target)
    else console.log(`- not in the tables: ${NATIVE_NAMES[program]}: ${missing}`)
  }
  const execute = (program: NativeProgram, args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(built.get(program)!, args, {
      encoding: 'utf8',
      timeout: 1000 * SECONDS_TO_RUN,
    })
    if (status !== 0) throw new Error(`${NATIVE_NAMES[program]} ${args.join(' ')} failed: ${stderr}`)
    return stdout
  }
  return {
    folder,
    input(name, bytes) {
      const path = join(folder, `${name.replaceAll(/[^a-z0-9]+/gi, '-')}.bin`)
      writeFileSync(path, bytes)
      return path
    },
    contenders(wanted, task, input) {
      return wanted
        .filter((program) => built.has(program))
        .map((program) => ({
          name: NATIVE_NAMES[program],
          round(milliseconds) {
            const [nanoseconds, result] = execute(program, [task, input, String(milliseconds)])
              .split(' ')
              .map(Number)
            return { nanoseconds: nanoseconds!, result: result! }
          },
        }))
    },
    results(program, input) {
      if (!built.has(program)) return undefined
      const path = `${input}.${program}`
      execute(program, ['results', input, '0', path])
      const bytes = readFileSync(path)
      return new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
    },
    close() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** @returns why it cannot be, or undefined */
function compile({ name, program, options, library, from }: Anchor, target: string): string | undefined {
  const failure = runCompiler([join(sources, program), '-o', target, ...options])
  if (failure !== undefined) return `${failure} (needs Debian's g++ and ${from})`
  const version = spawnSync('pkg-config', ['--modversion', library], { encoding: 'utf8' }).stdout?.trim()
  console.log(`- ${name}: ${version || 'version unknown (no pkg-config)'}`)
  return undefined
}

/** From sources with this machine's instructions, which no package is built with. */
function compileGeographicLib(target: string): string | undefined {
  const source = process.env['GEOGRAPHICLIB_SOURCE']
  if (source === undefined) return 'GEOGRAPHICLIB_SOURCE does not name its sources (`apt-get source geographiclib`)'
  const files = GEOGRAPHICLIB_FILES.map((file) => resolve(source, 'src', `${file}.cpp`))
  const absent = files.find((file) => !existsSync(file))
  if (absent !== undefined) return `${absent} is not there`
  const options = ['-O3', '-march=native', '-ffunction-sections', '-Wl,--gc-sections', '-I', resolve(source, 'include')]
  const failure = runCompiler([...options, join(sources, 'geographiclib.cc'), ...files, '-o', target])
  if (failure !== undefined) return failure
  const news = existsSync(join(source, 'NEWS')) ? readFileSync(join(source, 'NEWS'), 'utf8') : ''
  console.log(
    `- ${NATIVE_NAMES.geographiclibNative}: ${/(\d+(?:\.\d+)+) \(released/.exec(news)?.[1] ?? 'version unknown'}`,
  )
  return undefined
}

function runCompiler(args: readonly string[]): string | undefined {
  const { error, status, stderr } = spawnSync('g++', ['-std=c++17', ...args], {
    encoding: 'utf8',
    timeout: 1000 * SECONDS_TO_COMPILE,
  })
  if (error !== undefined) return 'g++ does not run'
  return status === 0 ? undefined : (stderr.split('\n').find((line) => line.includes('error')) ?? 'it does not compile')
}
