import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Flags of Node.js that `npm start` gives the service.
 *
 * @param root folder of the repository
 */
export function nodeFlags(root: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } }
  return scripts.start.split(' ').filter((word) => word.startsWith('--'))
}
