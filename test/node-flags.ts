import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Returns the flags of Node.js with which `npm start` starts the service.
 *
 * @param root folder of the repository
 */
export function nodeFlags(root: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } }
  return scripts.start.split(' ').filter((word) => word.startsWith('--'))
}
