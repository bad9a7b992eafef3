/** A field that finds a place by its name or by its coordinates: an ARIA combobox with a list of suggestions. */
import { announce, h, replace } from '../dom.ts'
import { type FoundPlace, findPlaces, type Places, type PlacesFile, readPlaces } from './places.ts'

const DATA = new URL('./places.json', import.meta.url).href

/** @param pick receives the chosen place, and whether it is only to be shown on the map */
export function createPlaceSearch(pick: (place: FoundPlace, isOnlyShown: boolean) => void) {
  let places: Promise<Places> | undefined
  let found: Places = []
  let active = 0
  let searches = 0
  const list = h('ul', { class: 'place-list', id: 'place-list', role: 'listbox', 'aria-label': 'Places', hidden: true })
  const help = h('p', { class: 'place-help', hidden: true })
  const input = h('input', {
    class: 'input',
    id: 'place',
    type: 'text',
    role: 'combobox',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'City or coordinates',
    'aria-label': 'Find a city or coordinates',
    'aria-autocomplete': 'list',
    'aria-controls': 'place-list',
    'aria-expanded': 'false',
    oninput: () => void search(),
    onfocus: () => void search(),
    onblur: () => close(),
    onkeydown: (event: KeyboardEvent) => onKey(event),
  })
  const element = h('div', { class: 'place-search' }, input, list, help)
  /** What Enter does, such as `Enter sets A`. */
  let enterText = ''

  return {
    element,
    showAction(text: string): void {
      enterText = text
    },
  }

  async function search(): Promise<void> {
    const number = ++searches
    const text = input.value
    if (text.trim() === '') return close()
    places ??= loadPlaces()
    places.catch(() => {
      places = undefined // the next search tries again
    })
    const known = await places.catch((): Places => [])
    if (number !== searches || document.activeElement !== input) return
    found = findPlaces(known, text)
    active = 0
    show(known.length)
  }

  function show(count: number): void {
    list.hidden = found.length === 0
    help.hidden = false
    help.textContent =
      found.length > 0
        ? enterText
        : `None of the ${count} cities in this page has this name. You can type coordinates, such as 48.8584, 2.2945.`
    input.setAttribute('aria-expanded', String(found.length > 0))
    replace(list, found.map(optionOf))
    mark()
    if (found.length === 0) announce(help.textContent)
  }

  function optionOf({ name, detail }: FoundPlace, index: number): HTMLElement {
    const option = h(
      'li',
      { role: 'option', id: `place-${index}` },
      h('span', {}, name),
      h('span', { class: 'place-detail' }, detail),
    )
    // Before `blur`, which closes the list.
    option.addEventListener('pointerdown', (event) => {
      event.preventDefault()
      choose(index, event.shiftKey)
    })
    return option
  }

  function mark(): void {
    for (const [index, option] of [...list.children].entries())
      option.setAttribute('aria-selected', String(index === active))
    if (found.length > 0) input.setAttribute('aria-activedescendant', `place-${active}`)
    else input.removeAttribute('aria-activedescendant')
  }

  function onKey(event: KeyboardEvent): void {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Escape') close()
    else if (by !== undefined && found.length > 0) {
      event.preventDefault()
      active = (active + by + found.length) % found.length
      mark()
    } else if (event.key === 'Enter') choose(active, event.shiftKey)
  }

  function choose(index: number, isOnlyShown: boolean): void {
    const place = found[index]
    if (place === undefined) return
    input.value = ''
    close()
    pick(place, isOnlyShown)
  }

  function close(): void {
    searches++
    found = []
    list.hidden = true
    help.hidden = true
    input.setAttribute('aria-expanded', 'false')
    input.removeAttribute('aria-activedescendant')
  }
}

async function loadPlaces(): Promise<Places> {
  const response = await fetch(DATA)
  if (!response.ok) throw new Error(`the places could not be loaded (HTTP status ${response.status})`)
  return readPlaces((await response.json()) as PlacesFile)
}
