import { type Mark, Marks } from './tables.ts'

export interface LoadRow {
  readonly operationsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Lowest and highest rate of the rounds, as fractions of the median. */
  readonly spread: readonly [number, number]
  /** CPU time per operation in microseconds: of the main thread, of the three busiest other threads, and of all threads. */
  readonly cpuMicros: { readonly main: number; readonly others: readonly number[]; readonly all: number }
  /** CPU time per operation as a multiple of one signature in the same round, median of the rounds. */
  readonly signatures: Multiples
  /** The same as a multiple of one recovery. */
  readonly recoveries: Multiples
  readonly residentMiB: number
}

/** CPU time of the main thread, of the busiest other thread, and of all threads. */
export interface Multiples {
  readonly main: number
  readonly busiest: number
  readonly all: number
}

/**
 * The targets of the service on two cores, which the load generator shares. Those of processor time are multiples of a signature or a
 * recovery. The others depend on the speed of the machine, so they are information.
 */
export function loadMarks(rows: Readonly<Record<string, LoadRow>>): readonly Mark[] {
  const marks = new Marks([])
  const atMost = (mark: string, name: string, limit: number, select: (row: LoadRow) => number) => {
    const row = rows[name]
    const measured = row && select(row)
    marks.add(`${mark}: ≤ ${limit}`, measured?.toFixed(2), measured === undefined ? undefined : measured <= limit)
  }
  atMost('signed distance, all threads, in signatures', NAMES.single32, 2.4, ({ signatures }) => signatures.all)
  atMost('… main thread', NAMES.single32, 1.1, ({ signatures }) => signatures.main)
  atMost('… signer thread', NAMES.single32, 1.2, ({ signatures }) => signatures.busiest)
  atMost('operation of an unsigned batch, in signatures', NAMES.none, 0.2, ({ signatures }) => signatures.all)
  atMost('… of a batch under one root', NAMES.merkle, 0.45, ({ signatures }) => signatures.all)
  atMost('… of a batch signed each', NAMES.each, 1.5, ({ signatures }) => signatures.all)
  atMost('verified stamp, in recoveries', NAMES.stamp, 3, ({ recoveries }) => recoveries.all)
  const alone = rows[NAMES.single32]
  const beside = rows[NAMES.beside]
  const part = alone && beside && beside.operationsPerSecond / alone.operationsPerSecond
  const mark = 'beside 8 connections of polygons, part of the rate alone: ≥ 0.8'
  marks.add(mark, part?.toFixed(2), part === undefined ? undefined : part >= 0.8)
  const inform = (name: string, text: (row: LoadRow) => string) => {
    const row = rows[name]
    if (row !== undefined) marks.inform(name, text(row))
  }
  for (const name of [NAMES.single32, NAMES.single256, NAMES.beside])
    inform(name, ({ operationsPerSecond, p99Ms }) => `${operationsPerSecond}/s, p99 ${p99Ms} ms`)
  for (const name of [NAMES.area7, NAMES.area17]) inform(name, ({ p50Ms }) => `p50 ${p50Ms} ms`)
  for (const name of [NAMES.none, NAMES.merkle, NAMES.each, NAMES.stamp])
    inform(name, ({ operationsPerSecond }) => `${operationsPerSecond}/s`)
  const residentMiB = Math.max(...Object.values(rows).map((row) => row.residentMiB))
  marks.inform('highest resident memory', `${residentMiB} MiB`)
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
