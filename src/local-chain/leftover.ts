import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Rpc } from '../sync/rpc.ts'
import { RpcError } from '../sync/rpc.ts'

/** What is noted of a running anvil, so that the next start finds it should both the service and its guard have been killed. */
interface Note {
  readonly pid: number
  readonly url: string
  /** Drawn by anvil at its start: a process id may be another process's by then. */
  readonly instance: string
}

const LOOK_MS = 50

/** Notes a running anvil. */
export async function noteProcess(file: string, pid: number, url: string, rpc: Rpc): Promise<void> {
  const note: Note = { pid, url, instance: await instanceOf(rpc) }
  writeFileSync(file, `${JSON.stringify(note)}\n`, { mode: 0o600 })
}

/**
 * Ends the anvil of a service that was killed together with what would have ended it. It would go on writing its state over
 * that of the next one.
 *
 * @param connect opens an address
 * @returns the id of the process that was ended
 */
export async function endLeftover(
  file: string,
  connect: (url: string) => Rpc,
  stopMs: number,
): Promise<number | undefined> {
  const note = readNote(file)
  if (note === undefined) return undefined
  try {
    if ((await instanceOf(connect(note.url))) !== note.instance) return undefined
  } catch (error) {
    if (error instanceof RpcError) return undefined // nobody there, or another program
    throw error
  } finally {
    rmSync(file, { force: true })
  }
  const latestMs = performance.now() + stopMs
  for (let signal: NodeJS.Signals | 0 = 'SIGTERM'; isSent(note.pid, signal); ) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    signal = performance.now() > latestMs ? 'SIGKILL' : 0
  }
  return note.pid
}

async function instanceOf(rpc: Rpc): Promise<string> {
  const { instanceId } = (await rpc.request('anvil_metadata', [])) as { instanceId: string }
  return instanceId
}

function readNote(file: string): Note | undefined {
  try {
    const { pid, url, instance } = JSON.parse(readFileSync(file, 'utf8'))
    return Number.isInteger(pid) && pid > 1 && typeof instance === 'string' ? { pid, url, instance } : undefined
  } catch {
    return undefined // none, or half a note: then it is that of no process
  }
}

function isSent(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
