import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }

/** Version of this package. */
export const version: string = packageJson.version

/** The program `trigpoint` as messages name it: in a checkout it is not on the PATH (docs/command-line.md). */
export const PROGRAM = 'npx --no-install trigpoint'

/**
 * Returns the commit of a checkout, read from .git without running git; `unknown` outside a checkout.
 *
 * @param root folder that contains `.git`
 */
export function readCommit(root: string): string {
  const read = (path: string) => readFileSync(join(root, '.git', path), 'utf8').trim()
  try {
    const head = read('HEAD')
    if (!head.startsWith('ref: ')) return head
    const ref = head.slice(5)
    try {
      return read(ref)
    } catch {
      const packed = read('packed-refs').split('\n')
      return packed.find((line) => line.endsWith(` ${ref}`))?.split(' ')[0] ?? 'unknown'
    }
  } catch {
    return 'unknown'
  }
}
