/** The question of the compute page with what is known of its answer: at once from the kernel here, signed from the service. */
import { type Verdict, verifyResult } from '../../../src/client/client.ts'
import type { ComputeResponse, Geometry } from '../../../src/types/generated.ts'
import type { Api } from '../api.ts'
import type { Engine } from '../kernel.ts'
import { bodyOf, geometryOf, inputsOf, operationText, type Question } from './question.ts'

export type Preview =
  | { readonly ok: true; readonly result: bigint | boolean; readonly milliseconds: number }
  | { readonly ok: false; readonly reason: string }

export type Phase = 'preview' | 'asking' | 'signed' | 'refused'

export interface State {
  readonly question: Question
  readonly phase: Phase
  /** Undefined while the kernel is not there yet, and for inputs whose geometry stands on a chain. */
  readonly preview: Preview | undefined
  /** The signed answer to this very question. */
  readonly answer: ComputeResponse | undefined
  /** The answer with bytes that somebody changed in this page. */
  readonly altered: ComputeResponse | undefined
  readonly verdict: Verdict | undefined
  readonly error: unknown
  readonly nonceSource: string | undefined
}

export interface Session {
  readonly state: State
  /** @param isFinal false while a vertex is on its way: then nothing is asked */
  change(patch: Partial<Question>, isFinal?: boolean): void
  alter(answer: ComputeResponse | undefined): void
  /** Has the answer signed again, with the nonce and a deadline of now. */
  resign(): Promise<void>
  askNow(): void
  useEngine(engine: Engine): void
  /** @returns stops it */
  onChange(listener: (state: State) => void): () => void
}

/** What comes within this time of a change is one question. */
const SETTLE_MS = 150

export function createSession(api: Api, question: Question): Session {
  const listeners = new Set<(state: State) => void>()
  let engine: Engine | undefined
  let settle: ReturnType<typeof setTimeout> | undefined
  let frame = 0
  let asking: AbortController | undefined
  let checks = 0
  let state: State = {
    question,
    phase: 'preview',
    preview: undefined,
    answer: undefined,
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
    const { question } = state
    const geometries = inputsOf(question).map(geometryOf)
    if (engine === undefined || geometries.includes(undefined)) {
      set({ preview: undefined })
      return
    }
    const started = performance.now()
    const outcome = engine.recompute(operationText(question), geometries as Geometry[])
    const milliseconds = performance.now() - started
    set({ preview: outcome.ok ? { ...outcome, milliseconds } : { ok: false, reason: outcome.reason } })
  }

  async function ask(): Promise<void> {
    asking?.abort()
    const controller = new AbortController()
    asking = controller
    const { question } = state
    set({ phase: 'asking', error: undefined })
    try {
      const answer = await request(api, question, controller.signal)
      if (controller.signal.aborted) return
      set({ phase: 'signed', answer, altered: undefined, error: undefined, nonceSource: api.nonceSource })
      await check()
    } catch (error) {
      if (controller.signal.aborted) return
      set({ phase: 'refused', error, answer: undefined, altered: undefined, verdict: undefined })
    }
  }

  /** Of several checks under way the last one counts. */
  async function check(): Promise<void> {
    const number = ++checks
    const { question, answer, altered } = state
    const shown = altered ?? answer
    if (shown === undefined) return
    const issuer = await api.issuer()
    const verdict = await verifyResult(shown, {
      chainId: question.chainId,
      issuer,
      inputs: inputsOf(question),
      recompute: engine?.recompute,
    })
    if (number === checks) set({ verdict })
  }

  return {
    get state() {
      return state
    },
    change(patch, isFinal = true) {
      asking?.abort()
      checks++
      set({
        question: { ...state.question, ...patch },
        phase: 'preview',
        answer: undefined,
        altered: undefined,
        verdict: undefined,
        error: undefined,
      })
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(computePreview)
      clearTimeout(settle)
      if (isFinal) settle = setTimeout(() => void ask(), SETTLE_MS)
    },
    alter(altered) {
      set({ altered, verdict: undefined })
      void check()
    },
    async resign() {
      const { answer, question } = state
      if (answer === undefined) return
      try {
        const signed = await api.client.compute.resign(answer, { chainId: question.chainId })
        if (state.answer !== answer) return
        set({ answer: { ...answer, ...signed }, altered: undefined, verdict: undefined, nonceSource: api.nonceSource })
        await check()
      } catch (error) {
        set({ error })
      }
    },
    askNow() {
      clearTimeout(settle)
      void ask()
    },
    useEngine(loaded) {
      engine = loaded
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

function request(api: Api, question: Question, signal: AbortSignal): Promise<ComputeResponse> {
  const { compute } = api.client
  const body = bodyOf(question)
  const options = { signal, chainId: question.chainId, recipient: body['recipient'] as string | undefined }
  const [a, b] = [question.a, question.b]
  switch (question.operation) {
    case 'area':
      return compute.area(a, options)
    case 'length':
      return compute.length(a, options)
    case 'within':
      return compute.within(a, b, question.radiusMeters, options)
    default:
      return compute[question.operation](a, b, options)
  }
}
