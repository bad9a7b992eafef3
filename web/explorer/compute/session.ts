/** State of the compute page: the request, the preview that the kernel computes in this page, and the signed response. */
import { ApiError, type Verdict, verifyResult } from '../../../src/client/client.ts'
import type { ComputeResponse, Geometry, Input } from '../../../src/types/generated.ts'
import type { Api } from '../api.ts'
import type { Engine } from '../kernel.ts'
import {
  bodyOf,
  geometryOf,
  inputsOf,
  isComplete,
  operationText,
  type RequestDraft,
  sentInputs,
} from './request-draft.ts'

export type Preview =
  | { readonly ok: true; readonly result: bigint | boolean; readonly milliseconds: number }
  | { readonly ok: false; readonly reason: string }

export type Phase = 'preview' | 'requesting' | 'signed' | 'rejected'

export interface State {
  readonly draft: RequestDraft
  readonly phase: Phase
  /** Whether the kernel that computes previews is there. */
  readonly kernel: 'loading' | 'loaded' | 'missing'
  /** Undefined until the kernel is loaded, without B, and for inputs that are not plain geometries, such as a UID. */
  readonly preview: Preview | undefined
  /** The signed response to the current request. */
  readonly response: ComputeResponse | undefined
  /** The response with bytes that were changed in the byte editor. */
  readonly altered: ComputeResponse | undefined
  readonly verdict: Verdict | undefined
  readonly error: unknown
  readonly nonceSource: string | undefined
}

export interface Session {
  readonly state: State
  /** @param isFinal false while a vertex is being dragged: then only the preview is computed, and no request is sent */
  change(patch: Partial<RequestDraft>, isFinal?: boolean): void
  alter(response: ComputeResponse | undefined): void
  /** Requests a new signature of the response, with the current nonce and a new deadline. */
  resign(): Promise<void>
  requestNow(): void
  /** @param engine undefined if it cannot be loaded */
  useEngine(engine: Engine | undefined): void
  /** @returns a function that removes the listener */
  onChange(listener: (state: State) => void): () => void
}

/** Changes that follow each other within this time are sent as one request. */
const SETTLE_MS = 150

export function createSession(api: Api, draft: RequestDraft): Session {
  const listeners = new Set<(state: State) => void>()
  let engine: Engine | undefined
  let settle: ReturnType<typeof setTimeout> | undefined
  let frame = 0
  let pendingRequest: AbortController | undefined
  let checks = 0
  /** Milliseconds since the epoch until which the service rejects requests, because the limit of the hour is reached. */
  let limitedUntilMs = 0
  let state: State = {
    draft,
    phase: 'preview',
    kernel: 'loading',
    preview: undefined,
    response: undefined,
    altered: undefined,
    verdict: undefined,
    error: undefined,
    nonceSource: undefined,
  }

  function set(patch: Partial<State>): void {
    state = { ...state, ...patch }
    for (const listener of listeners) listener(state)
  }

  function computePreview(): void {
    const { draft } = state
    const geometries = inputsOf(draft).map(geometryOf)
    if (engine === undefined || !isComplete(draft) || geometries.includes(undefined)) {
      set({ preview: undefined })
      return
    }
    const started = performance.now()
    const outcome = engine.recompute(operationText(draft), geometries as Geometry[])
    const milliseconds = performance.now() - started
    set({ preview: outcome.ok ? { ...outcome, milliseconds } : { ok: false, reason: outcome.reason } })
  }

  async function sendRequest(): Promise<void> {
    pendingRequest?.abort()
    const { draft } = state
    if (!isComplete(draft)) return
    const controller = new AbortController()
    pendingRequest = controller
    limitedUntilMs = 0
    set({ phase: 'requesting', error: undefined })
    try {
      const response = await request(api, draft, controller.signal)
      if (controller.signal.aborted) return
      set({ phase: 'signed', response, altered: undefined, error: undefined, nonceSource: api.nonceSource })
      await check()
    } catch (error) {
      if (controller.signal.aborted) return
      const isLimit = error instanceof ApiError && error.status === 429
      if (isLimit) limitedUntilMs = Date.now() + (error.retryAfterSeconds ?? 60) * 1000
      set({
        phase: isLimit ? 'preview' : 'rejected',
        error,
        response: undefined,
        altered: undefined,
        verdict: undefined,
      })
    }
  }

  /** Verifies the response. If several checks overlap, only the one that started last sets the verdict. */
  async function check(): Promise<void> {
    const number = ++checks
    const { draft, response, altered } = state
    const shown = altered ?? response
    if (shown === undefined) return
    const issuer = await api.issuer()
    const verdict = await verifyResult(shown, {
      chainId: draft.chainId,
      issuer,
      inputs: inputsOf(draft),
      recompute: engine?.recompute,
    })
    if (number === checks) set({ verdict })
  }

  return {
    get state() {
      return state
    },
    change(patch, isFinal = true) {
      pendingRequest?.abort()
      checks++
      const isLimited = Date.now() < limitedUntilMs
      set({
        draft: { ...state.draft, ...patch },
        phase: 'preview',
        response: undefined,
        altered: undefined,
        verdict: undefined,
        error: isLimited ? state.error : undefined,
      })
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(computePreview)
      clearTimeout(settle)
      if (isFinal && !isLimited) settle = setTimeout(() => void sendRequest(), SETTLE_MS)
    },
    alter(altered) {
      set({ altered, verdict: undefined })
      void check()
    },
    async resign() {
      const { response, draft } = state
      if (response === undefined) return
      try {
        const signed = await api.client.compute.resign(response, { chainId: draft.chainId })
        if (state.response !== response) return
        set({
          response: { ...response, ...signed },
          altered: undefined,
          verdict: undefined,
          nonceSource: api.nonceSource,
        })
        await check()
      } catch (error) {
        set({ error })
      }
    },
    requestNow() {
      clearTimeout(settle)
      void sendRequest()
    },
    useEngine(loaded) {
      engine = loaded
      set({ kernel: loaded === undefined ? 'missing' : 'loaded' })
      if (loaded === undefined) return
      computePreview()
      void check()
    },
    onChange(listener) {
      listeners.add(listener)
      listener(state)
      return () => listeners.delete(listener)
    },
  }
}

function request(api: Api, draft: RequestDraft, signal: AbortSignal): Promise<ComputeResponse> {
  const { compute } = api.client
  const body = bodyOf(draft)
  const options = { signal, chainId: draft.chainId, recipient: body['recipient'] as string | undefined }
  const [a, b] = sentInputs(draft) as readonly [Input, Input]
  switch (draft.operation) {
    case 'area':
      return compute.area(a, options)
    case 'length':
      return compute.length(a, options)
    case 'within':
      return compute.within(a, b, draft.radiusMeters, options)
    case 'contains':
    case 'intersects':
      return compute[draft.operation](a, b, { ...options, edges: draft.edges })
    default:
      return compute[draft.operation](a, b, options)
  }
}
