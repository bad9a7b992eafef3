import { copyFileSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** What became of the state that the last run left. */
export type FoundState = 'none' | 'kept' | 'older' | 'damaged'

export interface StateFiles {
  /** That anvil reads when it starts, and writes in place. */
  readonly state: string
  /** A copy of the state from before the last start. */
  readonly before: string
}

/** @param folder of the local chain */
export function stateFiles(folder: string): StateFiles {
  return { state: join(folder, 'state.json'), before: join(folder, 'state-before.json') }
}

/**
 * Sees to it that anvil finds a state that it can read, or none: it writes the file in place, so a kill at that moment leaves
 * half of it, with which it would not start.
 *
 * @returns `older`: the copy from before the last start took the place of a damaged state; `damaged`: there was none
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

/** Forgets the chain. */
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
