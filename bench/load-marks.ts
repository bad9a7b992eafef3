import { type Mark, Marks } from './tables.ts'

export interface LoadRow {
  readonly operationsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Lowest and highest rate of the rounds, as fractions of the median. */
  readonly spread: readonly [number, number]
  /** CPU time per operation in microseconds: of the main thread, of the three busiest other threads, and of all threads. */
  readonly cpuMicros: { readonly main: number; readonly others: readonly number[]; readonly all: number }
  readonly residentMiB: number
}

/** The targets of the service on two cores, which the load generator shares. */
export function loadMarks(rows: Readonly<Record<string, LoadRow>>): readonly Mark[] {
  const marks = new Marks([])
  const atLeast = (mark: string, name: string, rate: number) => {
    const measuredRate = rows[name]?.operationsPerSecond
    if (measuredRate === undefined) marks.add(mark, undefined, undefined)
    else marks.add(mark, `${measuredRate}/s`, measuredRate >= rate)
  }
  const atMost = (mark: string, name: string, limit: number, select: (row: LoadRow) => number, unit: string) => {
    const row = rows[name]
    if (row === undefined) marks.add(mark, undefined, undefined)
    else marks.add(mark, `${select(row)} ${unit}`, select(row) <= limit)
  }
  const p99 = ({ p99Ms }: LoadRow) => p99Ms
  const p50 = ({ p50Ms }: LoadRow) => p50Ms
  const withoutPolygons = rows[NAMES.single32]
  const withPolygons = rows[NAMES.beside]
  const fraction =
    withoutPolygons && withPolygons ? withPolygons.operationsPerSecond / withoutPolygons.operationsPerSecond : 0
  const resident = Math.max(...Object.values(rows).map(({ residentMiB }) => residentMiB))
  atLeast('signed requests, 32 connections: ≥ 18,000/s', NAMES.single32, 18_000)
  atMost('… p99 ≤ 4 ms', NAMES.single32, 4, p99, 'ms')
  atMost('… 256 connections: p99 ≤ 20 ms', NAMES.single256, 20, p99, 'ms')
  atMost('beside 8 connections of polygons: p99 ≤ 8 ms', NAMES.beside, 8, p99, 'ms')
  marks.add('… ≥ 80 % of the rate alone', `${Math.round(100 * fraction)} %`, fraction >= 0.8)
  atMost('area of 10,000 vertices, 7 decimals, to its signed answer: ≤ 2 ms', NAMES.area7, 2, p50, 'ms')
  atMost('… full doubles: ≤ 4.5 ms', NAMES.area17, 4.5, p50, 'ms')
  atLeast('batches unsigned: ≥ 300,000/s', NAMES.none, 300_000)
  atLeast('… under one root: ≥ 150,000/s', NAMES.merkle, 150_000)
  atLeast('… signed each: ≥ 20,000/s', NAMES.each, 20_000)
  atLeast('stamps verified: ≥ 10,000/s', NAMES.stamp, 10_000)
  marks.add('resident memory under each: ≤ 350 MB', `${Math.round(resident * 1.048576)} MB`, resident * 1.048576 <= 350)
  return marks.list
}

export const NAMES = {
  single1: 'distance, 1 connection',
  single32: 'distance, 32 connections',
  single256: 'distance, 256 connections',
  beside: 'distance, 32 connections, beside 8 sending 10,000-vertex polygons',
  area7: 'area of 10,000 vertices, 7 decimals, 1 connection',
  area17: 'area of 10,000 vertices, full doubles, 1 connection',
  none: 'batch of 1000 distances, attest none, 8 connections',
  merkle: 'batch of 1000 distances, attest merkle, 8 connections',
  each: 'batch of 1000 distances, attest each, 8 connections',
  stamp: 'stamp with one signature, 32 connections',
  proof: 'proof of 3 stamps, signed, 32 connections',
} as const
