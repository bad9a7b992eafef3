/** Runs the programs that pages of docs/ show, with what they promise to print. */
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')

/** Runs a module like one of a project with the package installed, and returns what it prints. */
export async function runModule(code: string): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { cwd: root })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (text += piece.toString()))
  const status = await new Promise((done) => child.on('close', done))
  if (status !== 0) throw new Error(text)
  return text
}

/** Returns the JavaScript of a page as one program. */
export function snippetsOf(page: string): string {
  return [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code!).join('\n')
}

/** Returns the lines that a program says it prints: `console.log(…) // line`. */
export function promisesOf(code: string): string[] {
  return [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, text]) => text!)
}
