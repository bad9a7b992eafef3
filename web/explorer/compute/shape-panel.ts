/** Makes a geometry from the inputs: where a geodesic ends, places along one, the nearest places, a buffer, a repair. Not signed. */
import { callOperation, type OperationArguments } from '../../../src/client/compute.ts'
import { OPERATIONS } from '../../../src/compute/operations.ts'
import type { Geometry, GeometryResponse } from '../../../src/types/generated.ts'
import type { GeometryOperation } from '../../../src/wire/values.ts'
import type { Api } from '../api.ts'
import { announce, h, replace } from '../dom.ts'
import { shortMeters } from '../format.ts'
import { problemView } from '../problem-view.ts'
import type { RequestDraft } from './request-draft.ts'

export interface ShapePanelParts {
  readonly api: Api
  draft(): RequestDraft
  change(patch: Partial<RequestDraft>): void
  /** Draws what was made on the map. */
  draw(shapes: readonly Geometry[]): void
}

interface Words {
  readonly title: string
  /** What it makes of A, or of A and B. */
  readonly meaning: string
  /** Members of the request beside its inputs, with their labels. A member without a value is left out. */
  readonly members: readonly { readonly name: string; readonly label: string; readonly value: string }[]
}

const WORDS: Readonly<Record<GeometryOperation, Words>> = {
  buffer: {
    title: 'Buffer',
    meaning: 'All places within a radius of the point A, as a polygon.',
    members: [
      { name: 'radius', label: 'Buffer radius in metres', value: '100000' },
      { name: 'toleranceMeters', label: 'Largest error in metres (default: radius / 1000)', value: '' },
    ],
  },
  direct: {
    title: 'Direct',
    meaning: 'The place where a geodesic from the point A ends.',
    members: [
      { name: 'azimuthDegrees', label: 'Azimuth in degrees, clockwise from north', value: '90' },
      { name: 'distanceMeters', label: 'Distance in metres', value: '1000000' },
    ],
  },
  waypoints: {
    title: 'Waypoints',
    meaning: 'Places along the geodesic from the point A to the point B.',
    members: [{ name: 'everyMeters', label: 'A place every so many metres', value: '500000' }],
  },
  repair: {
    title: 'Repair',
    meaning: 'A valid geometry made from A, if its polygons are not valid. The map shows A and, in green, the repair.',
    members: [],
  },
  nearest: { title: 'Nearest places', meaning: 'The places of A and B that are nearest to each other.', members: [] },
}
const NAMES = Object.keys(WORDS) as GeometryOperation[]

export function createShapePanel({ api, draft, change, draw }: ShapePanelParts) {
  const choice = h('select', { class: 'select', id: 'shape-operation', onchange: () => choose() })
  replace(
    choice,
    NAMES.map((name) => h('option', { value: name }, WORDS[name].title)),
  )
  const meaning = h('p', { class: 'hint' })
  const fields = h('div', { class: 'stack' })
  const form = h(
    'form',
    {
      class: 'stack',
      'aria-label': 'Make a geometry',
      onsubmit: (event: Event) => {
        event.preventDefault()
        void compute()
      },
    },
    fields,
    h('div', { class: 'row' }, h('button', { class: 'button small', type: 'submit' }, 'Make it')),
  )
  const result = h('div', { class: 'stack', id: 'shape-result' })
  const element = h(
    'section',
    { class: 'panel stack', 'aria-label': 'Make a geometry' },
    h('h2', { class: 'eyebrow' }, 'Make a geometry'),
    h('div', { class: 'field' }, h('label', { for: 'shape-operation' }, 'From the inputs'), choice),
    meaning,
    form,
    result,
  )
  let inputs: HTMLInputElement[] = []
  let made: Pick<RequestDraft, 'a' | 'b'> | undefined
  let running: AbortController | undefined
  choose()
  return { element, show }

  /** Removes a result that no longer belongs to the inputs. */
  function show({ a, b }: RequestDraft): void {
    if (made === undefined || (made.a === a && made.b === b)) return
    clear()
  }

  function clear(): void {
    running?.abort()
    made = undefined
    replace(result)
    draw([])
  }

  function choose(): void {
    clear()
    const words = WORDS[choice.value as GeometryOperation]
    meaning.textContent = words.meaning
    inputs = words.members.map(({ name, value }) =>
      h('input', { class: 'input numeric', id: `shape-${name}`, type: 'number', step: 'any', value }),
    )
    replace(
      fields,
      words.members.map(({ name, label }, index) =>
        h('div', { class: 'field' }, h('label', { for: `shape-${name}` }, label), inputs[index]),
      ),
    )
  }

  async function compute(): Promise<void> {
    clear()
    const name = choice.value as GeometryOperation
    const { a, b, chainId } = draft()
    const names = OPERATIONS[name].inputs
    if (names.length === 2 && b === undefined) {
      replace(result, h('p', { class: 'hint', role: 'alert' }, 'B is not set: click the map, draw it or type it.'))
      return
    }
    const members = inputs.filter(({ value }) => value !== '').map(({ id, value }) => [id.slice(6), Number(value)])
    const given: OperationArguments = {
      ...Object.fromEntries([...names.map((key, i) => [key, [a, b][i]]), ...members]),
    }
    const controller = new AbortController()
    running = controller
    made = { a, b }
    try {
      const response = await callOperation(api.client.compute, name, given, { chainId, signal: controller.signal })
      if (!controller.signal.aborted) showResult(name, response as GeometryResponse)
    } catch (error) {
      if (!controller.signal.aborted) replace(result, problemView(error))
    }
  }

  function showResult(name: GeometryOperation, response: GeometryResponse): void {
    const use = (label: string, patch: () => Partial<RequestDraft>) =>
      h('button', { class: 'button small', type: 'button', onclick: () => change(patch()) }, label)
    const isPair = 'from' in response
    const shapes = (isPair ? [response.from.geometry, response.to.geometry] : [response.geometry]) as Geometry[]
    const text = `${WORDS[name].title}: ${factsOf(response).join(', ')}. Not signed.`
    const buttons = isPair
      ? [use('Use them as A and B', () => ({ a: shapes[0]!, b: shapes[1]! }))]
      : [use('Use it as A', () => ({ a: shapes[0]! })), use('Use it as B', () => ({ b: shapes[0]! }))]
    replace(result, h('p', {}, text), changeList(response), h('div', { class: 'row' }, buttons))
    draw(shapes)
    announce(text)
  }
}

/** Changes that are listed; the others are counted. */
const LISTED_CHANGES = 20

/** Lists the changes of a repair. */
function changeList(response: GeometryResponse): HTMLElement | undefined {
  if (!('changes' in response) || response.changes.length === 0) return undefined
  const { changes, omittedChanges = 0 } = response
  const more = changes.length - LISTED_CHANGES + omittedChanges
  return h(
    'ul',
    { class: 'hint', 'aria-label': 'Changes' },
    changes.slice(0, LISTED_CHANGES).map(({ detail, place }) => h('li', {}, `[${place.join(', ')}]: ${detail}`)),
    more > 0 ? h('li', {}, `and ${more} more`) : undefined,
  )
}

function factsOf(response: GeometryResponse): string[] {
  if ('from' in response) return [`${shortMeters(response.distanceMeters)} between two places`]
  const { geometry } = response
  const facts = [geometry.type === 'Point' ? 'a place' : `a ${geometry.type}${verticesOf(geometry)}`]
  if ('changes' in response) {
    const count = response.changes.length + (response.omittedChanges ?? 0)
    if (count === 0) return [...facts, 'valid as it was']
    facts.push(`${count} ${count === 1 ? 'change' : 'changes'}`, `${response.areaMovedSquareMeters} m² moved`)
  }
  if ('errorMeters' in response) {
    const { errorMeters } = response
    facts.push(`error ${errorMeters < 1 ? `${errorMeters.toPrecision(2)} m` : shortMeters(errorMeters)}`)
  }
  if ('lengthMeters' in response) facts.push(`${shortMeters(response.lengthMeters)} long`)
  return facts
}

function verticesOf(geometry: Geometry): string {
  if (geometry.type === 'GeometryCollection') return ''
  const numbers = (geometry.coordinates as unknown[]).flat(3)
  return ` of ${numbers.length / 2} vertices`
}
