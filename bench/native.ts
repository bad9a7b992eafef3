/**
 * Contenders in C++: small programs in `bench/native`, compiled into a temporary directory with the libraries of this machine.
 * They read the same numbers as Trigpoint and measure their own time. Each round starts a new process.
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
/** The source files that GeographicLib's geodesics need. */
const GEOGRAPHICLIB_FILES = [
  ...['Geodesic', 'GeodesicLine', 'GeodesicExact', 'GeodesicLineExact', 'DST', 'EllipticFunction', 'Math'],
  ...['PolygonArea', 'Rhumb', 'Ellipsoid', 'AlbersEqualArea', 'TransverseMercator', 'Utility'],
]

interface NativeLibrary {
  readonly name: string
  readonly program: string
  readonly options: readonly string[]
  /** The name of the library for pkg-config, which reports its version. */
  readonly library: string
  /** The Debian package that contains the library. */
  readonly debianPackage: string
}

const NATIVE_LIBRARIES = {
  geographiclib: {
    name: 'GeographicLib C++, -O2 .so',
    program: 'geographiclib.cc',
    options: ['-O2', '-lGeographicLib'],
    library: 'geographiclib',
    debianPackage: 'libgeographiclib-dev',
  },
  proj: {
    name: 'PROJ geodesic.c, .so',
    program: 'proj.cc',
    options: ['-O2', '-lproj'],
    library: 'proj',
    debianPackage: 'libproj-dev',
  },
  geos: {
    name: 'GEOS C++, .so',
    program: 'geos.cc',
    options: ['-O2', '-lgeos_c'],
    library: 'geos',
    debianPackage: 'libgeos-dev',
  },
} as const satisfies Record<string, NativeLibrary>

export type NativeProgram = keyof typeof NATIVE_LIBRARIES | 'geographiclibNative'
export const NATIVE_NAMES: Readonly<Record<NativeProgram, string>> = {
  geographiclib: NATIVE_LIBRARIES.geographiclib.name,
  proj: NATIVE_LIBRARIES.proj.name,
  geos: NATIVE_LIBRARIES.geos.name,
  geographiclibNative: 'GeographicLib C++, -O3 -march=native',
}

export interface Native {
  readonly folder: string
  /** Writes an input file and returns its path. */
  input(name: string, bytes: Uint8Array): string
  /** Creates contenders for those programs that were compiled. */
  contenders(programs: readonly NativeProgram[], task: string, input: string): Contender[]
  /** All results of a program for an input. Undefined if the program was not compiled. */
  results(program: NativeProgram, input: string): Float64Array | undefined
  close(): void
}

/** Compiles the programs and prints one line for each: its version, or why it is missing. */
export function openNative(programs: readonly NativeProgram[]): Native {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-bench-'))
  const built = new Map<NativeProgram, string>()
  for (const program of programs) {
    const target = join(folder, program)
    const reason =
      program === 'geographiclibNative' ? compileGeographicLib(target) : compile(NATIVE_LIBRARIES[program], target)
    if (reason === undefined) built.set(program, target)
    else console.log(`- not in the tables: ${NATIVE_NAMES[program]}: ${reason}`)
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
    contenders(names, task, input) {
      return names
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

/** Compiles a program. Returns the reason if that fails, else undefined. */
function compile(
  { name, program, options, library, debianPackage }: NativeLibrary,
  target: string,
): string | undefined {
  const failure = runCompiler([join(sources, program), '-o', target, ...options])
  if (failure !== undefined) return `${failure} (needs Debian's g++ and ${debianPackage})`
  const version = spawnSync('pkg-config', ['--modversion', library], { encoding: 'utf8' }).stdout?.trim()
  console.log(`- ${name}: ${version || 'version unknown (no pkg-config)'}`)
  return undefined
}

/** Compiles GeographicLib from source with the instruction set of this machine, which no package uses. Returns as `compile`. */
function compileGeographicLib(target: string): string | undefined {
  const source = process.env['GEOGRAPHICLIB_SOURCE']
  if (source === undefined)
    return 'GEOGRAPHICLIB_SOURCE is not set to the folder of its sources (`apt-get source geographiclib`)'
  const files = GEOGRAPHICLIB_FILES.map((file) => resolve(source, 'src', `${file}.cpp`))
  const missingFile = files.find((file) => !existsSync(file))
  if (missingFile !== undefined) return `${missingFile} does not exist`
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
  if (error !== undefined) return 'g++ could not be run'
  return status === 0 ? undefined : (stderr.split('\n').find((line) => line.includes('error')) ?? 'compilation failed')
}
