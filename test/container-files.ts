/** The Dockerfile and compose.yaml, parsed for tests. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'

const root = resolve(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

export interface Instruction {
  readonly word: string
  readonly argumentText: string
}

/** The stages of the Dockerfile: the name of each, and the instructions after its FROM. The last one is `final`. */
export const STAGES: readonly { readonly name: string; readonly instructions: readonly Instruction[] }[] = read(
  'Dockerfile',
)
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, '')
  .split(/^FROM /m)
  .slice(1)
  .map((text) => {
    const [first, ...lines] = text.trim().split('\n')
    const instructions = lines.map((line): Instruction => {
      const [, word, argumentText] = /^([A-Z]+) (.*)$/.exec(line)!
      return { word: word!, argumentText: argumentText! }
    })
    return { name: / AS (\w+)$/.exec(first!)?.[1] ?? 'final', instructions }
  })

export const findStage = (name: string): readonly Instruction[] =>
  STAGES.find((stage) => stage.name === name)!.instructions

export const findInstructions = (name: string, word: string): readonly Instruction[] =>
  findStage(name).filter((instruction) => instruction.word === word)

/** The command line of the image without its arguments: `node`, its flags, and the program. */
export const ENTRYPOINT = JSON.parse(findInstructions('final', 'ENTRYPOINT')[0]!.argumentText) as string[]

/** The environment that the image sets. */
export const IMAGE_ENVIRONMENT: Readonly<Record<string, string>> = Object.fromEntries(
  findInstructions('final', 'ENV').flatMap(({ argumentText }) =>
    argumentText.split(' ').map((setting) => setting.split('=') as [string, string]),
  ),
)

interface ComposeFile {
  readonly services: Readonly<Record<'trigpoint' | 'postgres', ComposeService>>
  readonly volumes: Readonly<Record<string, unknown>>
}

interface ComposeService {
  readonly image: string
  readonly environment: Readonly<Record<string, string>>
  readonly volumes: readonly string[]
  readonly ports?: readonly string[]
  readonly stop_grace_period: string
}

export const COMPOSE_FILE = parse(read('compose.yaml')) as ComposeFile

/**
 * Replaces `${NAME}`, `${NAME:-default}` and `${NAME:?message}`, as Docker Compose does.
 *
 * @throws {Error} with the message, if the variable is not set
 */
export function interpolate(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind?: string, rest = '') => {
    const value = variables[name] ?? ''
    if (value === '' && kind === '?') throw new Error(`${name}: ${rest}`)
    return value === '' && kind === '-' ? rest : value
  })
}
