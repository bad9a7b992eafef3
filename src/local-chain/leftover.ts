import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type Rpc, RpcError } from '../sync/rpc.ts'

/** Identifies a running anvil, so that the next start can end it if both the service and its guard were killed. */
interface Note {
  readonly pid: number
  readonly url: string
  /** Random id that anvil chooses when it starts. The process id is not enough, because another process may get it. */
  readonly instance: string
}

const POLL_MS = 50

/** Writes the note of a running anvil. */
export async function noteProcess(file: string, pid: number, url: string, rpc: Rpc): Promise<void> {
  const note: Note = { pid, url, instance: await readInstance(rpc) }
  writeFileSync(file, `${JSON.stringify(note)}\n`, { mode: 0o600 })
}

/**
 * Ends an anvil that is still running because its service and its guard were killed. It would otherwise overwrite the state of
 * the next anvil.
 *
 * @param connect connects to an RPC address
 * @param stopMs time limit for a clean stop, after which the process is killed
 * @returns the id of the process that was ended, or undefined when none was
 */
export async function endLeftover(
  file: string,
  connect: (url: string) => Rpc,
  stopMs: number,
): Promise<number | undefined> {
  const note = readNote(file)
  if (note === undefined) return undefined
  try {
    if ((await readInstance(connect(note.url))) !== note.instance) return undefined
  } catch (error) {
    if (error instanceof RpcError) return undefined // nothing listens there, or another program does
    throw error
  } finally {
    rmSync(file, { force: true })
  }
  const deadlineMs = performance.now() + stopMs
  for (let signal: NodeJS.Signals | 0 = 'SIGTERM'; sendSignal(note.pid, signal); ) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    signal = performance.now() > deadlineMs ? 'SIGKILL' : 0
  }
  return note.pid
}

async function readInstance(rpc: Rpc): Promise<string> {
  const { instanceId } = (await rpc.request('anvil_metadata', [])) as { instanceId: string }
  return instanceId
}

function readNote(file: string): Note | undefined {
  try {
    const { pid, url, instance } = JSON.parse(readFileSync(file, 'utf8'))
    return Number.isInteger(pid) && pid > 1 && typeof instance === 'string' ? { pid, url, instance } : undefined
  } catch {
    return undefined // there is no note, or it is incomplete
  }
}

/** Sends a signal; 0 only tests whether the process exists. @returns false when it does not exist */
function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
