import type { LonLat } from '../geo/shape.ts'
import type { LabStamp, LabState, PluginName } from './evidence.ts'

export interface Template {
  readonly title: string
  readonly lesson: string
  readonly stamps: readonly Omit<LabStamp, 'id'>[]
}

/** Marienplatz in Munich. */
const HERE: LonLat = [11.5755, 48.1374]
/** The usual accuracy of each kind of evidence, in metres. */
export const USUAL_ACCURACY: Readonly<Record<PluginName, number>> = {
  gpsd: 8,
  geoclue: 25,
  'wifi-mls': 40,
  'ip-geolocation': 5000,
  proofmode: 12,
  witnesschain: 50_000,
  mock: 10,
}

const stamp = (
  plugin: PluginName,
  east: number,
  north: number,
  changes: Partial<LabStamp> = {},
): Omit<LabStamp, 'id'> => ({
  plugin,
  place: [Number((HERE[0] + east).toFixed(6)), Number((HERE[1] + north).toFixed(6))],
  accuracyMeters: USUAL_ACCURACY[plugin],
  startSeconds: 900,
  lastsSeconds: 120,
  signer: 'subject',
  isForged: false,
  ...changes,
})

export const TEMPLATES: readonly Template[] = [
  {
    title: 'Three stamps that agree',
    lesson:
      'Satellite positioning, Wi-Fi and a phone record agree in position and time: three kinds of evidence, one signer.',
    stamps: [
      stamp('gpsd', 0.0004, 0.0002),
      stamp('wifi-mls', -0.0006, 0.0003, { startSeconds: 1000 }),
      stamp('proofmode', 0.0001, -0.0004, { startSeconds: 1100, lastsSeconds: 60 }),
    ],
  },
  {
    title: 'One stamp is elsewhere',
    lesson: 'The averages get worse, and the stamp outside the radius is marked.',
    stamps: [stamp('gpsd', 0.0004, 0.0002), stamp('geoclue', -0.0004, 0.0003), stamp('wifi-mls', 0.011, 0.005)],
  },
  {
    title: 'Changed after signing',
    lesson:
      'One stamp is a second longer than when it was signed, so its signature does not verify. The service still evaluates the proof and reports this.',
    stamps: [stamp('gpsd', 0.0004, 0.0002), stamp('proofmode', -0.0003, 0.0001, { isForged: true })],
  },
  {
    title: 'Before the event',
    lesson: 'The evidence is genuine but from the wrong hour: it does not overlap the claim in time.',
    stamps: [
      stamp('gpsd', 0.0002, 0.0002, { startSeconds: -5400, lastsSeconds: 600 }),
      stamp('geoclue', -0.0003, 0.0002, { startSeconds: -1200, lastsSeconds: 1800 }),
    ],
  },
  {
    title: 'Not signed by the subject',
    lesson:
      'Both stamps have the claimed position and time. One is unsigned, and a key other than the subject’s signed the other.',
    stamps: [
      stamp('gpsd', 0.0002, 0.0001, { signer: 'nobody' }),
      stamp('wifi-mls', -0.0004, 0.0002, { signer: 'stranger' }),
    ],
  },
]

/** @param nowSeconds since the epoch; the claim covers the last full hour before it */
export function stateOf({ stamps }: Template, nowSeconds: number): LabState {
  return {
    place: HERE,
    radiusMeters: 150,
    startSeconds: Math.floor(nowSeconds / 3600) * 3600 - 3600,
    lastsSeconds: 3600,
    stamps: stamps.map((stamp, index) => ({ ...stamp, id: index + 1 })),
  }
}
