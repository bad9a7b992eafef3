import { parseJson } from '../src/geometry/scan.ts'
import { isJsonObject } from '../src/validation/json-body.ts'

/** Skeletons that are remembered, and characters of one. */
const MAX_KNOWN = 64
const MAX_CHARACTERS = 1024
const ID = '"id":'
/** Ids whose text is what is echoed. */
const PLAIN_ID = /(?:0|-?[1-9][0-9]{0,14}|"[A-Za-z0-9_.: -]{0,128}")(?=[,}])/y

/**
 * Items of a batch, and the requests of a caller, mostly differ in their coordinates and ids alone. Their skeletons, the ids taken
 * out, are the same text then, and what was read of one holds for all of them.
 */
export class SkeletonMemo<Facts extends object> {
  readonly #known = new Map<string, object>()
  readonly #facts = new WeakMap<object, Facts>()
  #id = ''

  /** The JSON text of the id of the skeleton that was parsed last; empty when it has none, or not a plain one. */
  get id(): string {
    return this.#id
  }

  /** Parses a skeleton, or gives the one that differs from it in its id alone. */
  parse(text: string): unknown {
    const at = text.indexOf(ID)
    this.#id = ''
    if (at < 0) return this.#parseOnce(text, text)
    const start = at + ID.length
    PLAIN_ID.lastIndex = start
    const before = text[at - 1]
    const isPlain = (before === ',' || before === '{') && text.indexOf(ID, start) < 0 && PLAIN_ID.test(text)
    if (!isPlain) return parseJson(text)
    this.#id = text.slice(start, PLAIN_ID.lastIndex)
    return this.#parseOnce(text, text.slice(0, start) + text.slice(PLAIN_ID.lastIndex))
  }

  /** What was kept of a skeleton. */
  find(skeleton: object): Facts | undefined {
    return this.#facts.get(skeleton)
  }

  keep(skeleton: object, facts: Facts): void {
    this.#facts.set(skeleton, facts)
  }

  #parseOnce(text: string, key: string): unknown {
    const known = this.#known.get(key)
    // One of which nothing was kept has the id of another item.
    if (known !== undefined && this.#facts.has(known)) return known
    const skeleton = parseJson(text)
    if (!isJsonObject(skeleton) || key.length > MAX_CHARACTERS) return skeleton
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(key, skeleton)
    return skeleton
  }
}
