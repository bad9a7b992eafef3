import type {
  BatchResult,
  ComputeResponse,
  GeometryResponse,
  MatrixResponse,
  ProblemDetails,
} from '../types/generated.ts'
import { sendLines } from './batch.ts'
import type { CallOptions, Transport } from './transport.ts'
import { ApiError } from './transport.ts'

export interface BatchingOptions {
  /** How long a call waits for others to join it; default 0: calls of the same tick are joined. */
  readonly waitMs?: number | undefined
  /** The most calls in one request, 1 to 10,000; default 256. */
  readonly maxItems?: number | undefined
}

/** A call of an operation, before it is sent. */
export interface OperationCall {
  readonly operation: string
  /** The members of its request. */
  readonly body: object
  readonly options: CallOptions
}

/** The response to one operation. Matrices and geometries have no attestation. */
export type OperationResponse = ComputeResponse | MatrixResponse | GeometryResponse

/** Sends the call of an operation and returns the response of its single request. @throws as `Transport.json` */
export type SendOperation = (call: OperationCall) => Promise<OperationResponse>

const BATCH_PATH = '/compute/v0/batch'
const DEFAULT_MAX_ITEMS = 256
const MAX_ITEMS = 10_000
/** Too large, over the hourly limit, overloaded: the service computed nothing, and may accept the call in another request. */
const NOT_COMPUTED = [413, 429, 503]

/** A call that has neither been answered nor aborted. */
interface OpenCall extends OperationCall {
  /** The call as a line of a batch. */
  readonly line: string
  readonly resolve: (response: OperationResponse) => void
  readonly reject: (reason: unknown) => void
}

/** Calls that go out in one request. They have the same time limit and number of retries. */
interface Group {
  readonly open: Set<OpenCall>
  /** Aborts the request when no call waits for it any more. */
  readonly aborter: AbortController
  readonly timer: ReturnType<typeof setTimeout>
}

/**
 * Returns a function that joins calls made at about the same time into one `POST /compute/v0/batch`.
 *
 * Each call gets what its single request would get. The calls are lines of a stream, so each line names its own chain, schema and
 * recipient, and a fault is reported at the same JSON Pointer as in a single request.
 *
 * @param sendSingle used when no other call joins, and for calls that the service did not compute within a batch
 * @throws {RangeError} on options outside their range
 */
export function joinCalls(
  transport: Transport,
  { waitMs = 0, maxItems = DEFAULT_MAX_ITEMS }: BatchingOptions,
  sendSingle: SendOperation,
): SendOperation {
  if (!Number.isInteger(maxItems) || maxItems < 1 || maxItems > MAX_ITEMS)
    throw new RangeError(`batching.maxItems must be a whole number from 1 to ${MAX_ITEMS}`)
  if (!Number.isFinite(waitMs) || waitMs < 0) throw new RangeError('batching.waitMs must be a number of at least 0')
  const waiting = new Map<string, Group>()

  return (call) => {
    const { signal, timeoutMs, maxRetries } = call.options
    if (signal?.aborted === true) return Promise.reject(signal.reason)
    const line = JSON.stringify({ op: call.operation, ...call.body })
    const key = `${timeoutMs} ${maxRetries}`
    const group = waiting.get(key) ?? openGroup(key)
    const response = new Promise<OperationResponse>((resolve, reject) => {
      const settle = () => {
        signal?.removeEventListener('abort', onAbort)
        group.open.delete(open)
      }
      const onAbort = () => {
        open.reject(signal?.reason)
        const isSent = waiting.get(key) !== group
        if (isSent && group.open.size === 0) group.aborter.abort(signal?.reason)
      }
      const open: OpenCall = {
        ...call,
        line,
        resolve(value) {
          settle()
          resolve(value)
        },
        reject(reason) {
          settle()
          reject(reason)
        },
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      group.open.add(open)
    })
    if (group.open.size >= maxItems) close(key, group)
    return response
  }

  function openGroup(key: string): Group {
    const group: Group = {
      open: new Set(),
      aborter: new AbortController(),
      timer: setTimeout(() => close(key, group), waitMs),
    }
    waiting.set(key, group)
    return group
  }

  function close(key: string, group: Group): void {
    clearTimeout(group.timer)
    waiting.delete(key)
    void send([...group.open], group, true)
  }

  /** Sends calls of a group and settles each of them. @param mayJoin false if each call is sent as its own request */
  async function send(calls: readonly OpenCall[], group: Group, mayJoin: boolean): Promise<void> {
    if (!mayJoin || calls.length < 2) {
      await Promise.all(calls.map((call) => sendSingle(call).then(call.resolve, call.reject)))
      return
    }
    const { timeoutMs, maxRetries } = calls[0]!.options
    const options = { timeoutMs, maxRetries, signal: group.aborter.signal }
    const refused: OpenCall[] = []
    let next = 0
    const take = ({ error, ...response }: BatchResult) => {
      const call = calls[next++]!
      if (error === undefined) call.resolve(response as OperationResponse)
      else if (NOT_COMPUTED.includes(error.status)) refused.push(call)
      else call.reject(toSingleError(error, call))
    }
    try {
      await sendLines(transport, { path: BATCH_PATH, lines: calls.map(({ line }) => line), take }, options)
      if (refused.length === 0) return
      await transport.pause(0, options)
    } catch (error) {
      for (const call of calls)
        call.reject(error instanceof ApiError ? toSingleError(error.problem, call, error) : error)
      return
    }
    // If the hourly limit is used up, this request is refused as a whole, with the seconds to wait.
    await send(
      refused.filter((call) => group.open.has(call)),
      group,
      next > refused.length,
    )
  }
}

/** Makes the error of a call's single request from the error of its line, or of the batch. */
function toSingleError(problem: ProblemDetails, { operation }: OperationCall, whole?: ApiError): ApiError {
  return new ApiError(
    { ...problem, ...(problem.instance === undefined ? {} : { instance: `/compute/v0/${operation}` }) },
    whole?.retryAfterSeconds,
  )
}
