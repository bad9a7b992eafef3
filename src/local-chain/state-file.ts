import { copyFileSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** What was done with the saved state: `none` existed, `kept`, replaced by an `older` copy, or `damaged` without a copy. */
export type FoundState = 'none' | 'kept' | 'older' | 'damaged'

export interface StateFiles {
  /** The file that anvil reads when it starts and overwrites in place. */
  readonly state: string
  /** A copy of the state, made before the last start. */
  readonly before: string
}

/** Returns the paths of the state files. @param folder folder of the local chain */
export function stateFiles(folder: string): StateFiles {
  return { state: join(folder, 'state.json'), before: join(folder, 'state-before.json') }
}

/**
 * Makes sure that the state file is valid or absent. Anvil overwrites the file in place, so if it is killed while it writes, the
 * file is incomplete, and anvil would not start with it.
 *
 * @returns `none`: there is no state; `kept`: the state is valid; `older`: the state was damaged and was replaced by the copy from
 *   before the last start; `damaged`: the state was damaged and there is no copy, so anvil starts without one
 */
export function prepareState({ state, before }: StateFiles): FoundState {
  if (!existsSync(state)) return 'none'
  if (isWhole(state)) {
    copyFileSync(state, before)
    return 'kept'
  }
  renameSync(state, `${state}.damaged`)
  if (!existsSync(before) || !isWhole(before)) return 'damaged'
  copyFileSync(before, state)
  return 'older'
}

/** Deletes the state of the chain and its copy. */
export function removeState({ state, before }: StateFiles): void {
  rmSync(state, { force: true })
  rmSync(before, { force: true })
}

function isWhole(file: string): boolean {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return typeof value === 'object' && value !== null && 'accounts' in value
  } catch {
    return false
  }
}
