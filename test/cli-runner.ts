/** Runs verbs of the command line in this process, and compares their output with a transcript in test/vectors/cli. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { runCommandLine } from '../src/cli/program.ts'

const root = resolve(import.meta.dirname, '..')
/** 2026-01-01T00:00:00Z. With a fixed clock and key, every run prints the same bytes. */
const NOW_MS = 1_767_225_600_000

export interface Run {
  readonly exitCode: number
  readonly out: string
  readonly err: string
}

export interface RunOptions {
  /** The time at which the command starts. */
  readonly nowMs?: number
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Milliseconds by which the clock advances each time it is read. */
  readonly tickMs?: number
}

export async function runCli(argv: readonly string[], options: RunOptions = {}): Promise<Run> {
  let [out, err] = ['', '']
  let nowMs = options.nowMs ?? NOW_MS
  async function* input() {
    yield Buffer.from(options.input ?? '')
  }
  const exitCode = await runCommandLine(argv, {
    env: options.env ?? {},
    secretNames: [],
    input: input(),
    out: async (text) => {
      out += text
    },
    err: (text) => {
      err += text
    },
    isInteractive: false,
    columns: undefined,
    signal: options.signal ?? new AbortController().signal,
    now: () => {
      nowMs += options.tickMs ?? 0
      return nowMs
    },
  })
  return { exitCode, out, err }
}

/** Makes a folder with a fixed development key (private key 1). */
export function cliFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'trigpoint-cli-'))
  const key = {
    purpose: 'DEVELOPMENT ONLY',
    address: '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf',
    privateKey: `0x${'1'.padStart(64, '0')}`,
  }
  mkdirSync(join(path, '.data'))
  writeFileSync(join(path, '.data/dev-signer.json'), JSON.stringify(key), { mode: 0o600 })
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** Commands with their output, in order. */
export class Transcript {
  readonly #file: string
  readonly #masks: readonly (readonly [string | RegExp, string])[]
  #text = ''

  /** @param masks texts that differ from run to run, with their replacements */
  constructor(name: string, masks: readonly (readonly [string | RegExp, string])[]) {
    this.#file = join(root, 'test/vectors/cli', `${name}.txt`)
    this.#masks = masks
  }

  async run(argv: readonly string[], options: RunOptions = {}): Promise<Run> {
    const run = await runCli(argv, options)
    const shown = argv.map((word) => (/^[\w.,:/=#<>-]+$/.test(word) ? word : `'${word}'`)).join(' ')
    const input =
      options.input === undefined ? '' : `(input) ${options.input.replace(/\n$/, '').replaceAll('\n', '\n(input) ')}\n`
    const part = (name: string, text: string) =>
      text === '' ? '' : `--- ${name}\n${text}${text.endsWith('\n') ? '' : '\n'}`
    const text = `$ trigpoint ${shown}\n${input}${part('out', run.out)}${part('err', run.err)}--- exit ${run.exitCode}\n\n`
    this.#text += this.#masks.reduce((masked, [what, instead]) => masked.replaceAll(what, instead), text)
    return run
  }

  /** The actual and the expected transcript. `UPDATE_GOLDEN=1` writes the file instead; read the change before you commit it. */
  compared(): { readonly said: string; readonly expected: string } {
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(this.#file, this.#text)
    return { said: this.#text, expected: readFileSync(this.#file, 'utf8') }
  }
}

/** Returns a signal that aborts itself when `aborted` is read for the given time, so that a run ends in the middle of its work. */
export function abortAtRead(read: number): AbortSignal {
  const controller = new AbortController()
  let reads = 0
  return new Proxy(controller.signal, {
    get(target, name) {
      if (name === 'aborted' && ++reads === read) controller.abort(new Error('ended by SIGINT'))
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
