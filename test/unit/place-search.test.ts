import { readFileSync } from 'node:fs'
import { brotliCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { isComplete, nextSlot, type RequestDraft, switchOperation } from '../../web/explorer/compute/request-draft.ts'
import { findPlaces, readPlaces } from '../../web/explorer/map/places.ts'

const file = new URL('../../web/explorer/map/places.json', import.meta.url)
const places = readPlaces(JSON.parse(readFileSync(file, 'utf8')))
const names = (text: string) => findPlaces(places, text).map(({ name }) => name)

describe('the search for places', () => {
  it.each([
    ['lisb', 'Lisbon'],
    ['SAO PAULO', 'São Paulo'],
    ['new york', 'New York City'],
    ['york', 'York'],
    ['vaduz', 'Vaduz'],
    ['luxemb', 'Luxembourg'],
    ['tok', 'Tokyo'],
    ['senegal', 'Dakar'],
  ])('finds with %s first %s', (text, name) => {
    expect(names(text)[0]).toBe(name)
  })

  it('knows the country of every place, and some place in every part of the world', () => {
    expect(places.length).toBeGreaterThan(4000)
    expect(places.filter(({ detail }) => /^[A-Z]{2}$/.test(detail))).toEqual([])
    for (const { position } of places) {
      expect(Math.abs(position[0])).toBeLessThanOrEqual(180)
      expect(Math.abs(position[1])).toBeLessThanOrEqual(90)
    }
    expect(brotliCompressSync(readFileSync(file)).length).toBeLessThan(100_000)
  })

  it('finds nothing for a name that is not there, or for no text', () => {
    expect(names('Atlantis')).toEqual([])
    expect(names(' , ')).toEqual([])
  })

  it('shows at most seven places', () => {
    expect(names('s')).toHaveLength(7)
  })

  it('offers both readings of two numbers', () => {
    expect(findPlaces([], '48.8584, 2.2945')).toEqual([
      { name: '48.8584° N, 2.2945° E', detail: 'latitude first', position: [2.2945, 48.8584] },
      { name: '2.2945° N, 48.8584° E', detail: 'longitude first', position: [48.8584, 2.2945] },
    ])
  })
})

describe('another operation', () => {
  const point = { type: 'Point', coordinates: [1, 2] } as const
  const polygon = { type: 'Polygon', coordinates: [] } as never
  const draft = (operation: string, a: unknown, b: unknown) => ({ operation, a, b }) as RequestDraft

  it('keeps both inputs if A fits, and swaps them if only B does', () => {
    expect(switchOperation(draft('contains', polygon, point), 'area')).toEqual(draft('area', polygon, point))
    // Regression: B also stayed, so that both inputs were the same polygon afterwards.
    expect(switchOperation(draft('distance', point, polygon), 'area')).toEqual(draft('area', polygon, point))
    expect(switchOperation(draft('distance', point, point), 'area')).toBeUndefined()
  })

  it('has no second input after an operation of one input', () => {
    const next = switchOperation(draft('area', polygon, undefined), 'distance')!
    expect(next).toEqual(draft('distance', polygon, undefined))
    expect([isComplete(draft('area', polygon, undefined)), isComplete(next)]).toEqual([true, false])
    expect([nextSlot(next, undefined), nextSlot(next, 'b')]).toEqual(['b', 'b'])
    expect(switchOperation(draft('distance', point, undefined), 'area')).toBeUndefined()
  })
})

describe('the input that a click sets', () => {
  const point = { type: 'Point', coordinates: [1, 2] } as const
  const line = {
    type: 'LineString',
    coordinates: [
      [1, 2],
      [3, 4],
    ],
  } as never
  const draft = (operation: string, a: unknown, b: unknown) => ({ operation, a, b }) as RequestDraft

  it('is A, then B, then A again', () => {
    const points = draft('distance', point, point)
    expect([nextSlot(points, undefined), nextSlot(points, 'a'), nextSlot(points, 'b')]).toEqual(['a', 'b', 'a'])
  })

  it('is never a line or a polygon while the other input is a point', () => {
    expect(nextSlot(draft('contains', line, point), undefined)).toBe('b')
    expect(nextSlot(draft('intersects', point, line), 'a')).toBe('a')
    expect(nextSlot(draft('intersects', line, line), undefined)).toBe('a')
  })

  it('is none in operations of one input', () => {
    expect(nextSlot(draft('area', line, point), undefined)).toBeUndefined()
  })
})
