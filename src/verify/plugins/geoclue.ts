import type { VerifyPlugin } from '../plugin.ts'
import { numberOf, shown, signalOf, textOf } from '../signals.ts'

/** Metres that each accuracy level of GeoClue stands for at most; what is coarser than exact also has a least. */
const LEVELS: Readonly<Record<string, readonly [atLeast: number, atMost: number]>> = {
  country: [10_000, 20_000_000],
  city: [1000, 100_000],
  neighborhood: [100, 10_000],
  street: [10, 2000],
  exact: [0, 100],
}
/** GClueAccuracyLevel as a number. */
const LEVEL_NUMBERS: Readonly<Record<number, string>> = {
  1: 'country',
  4: 'city',
  5: 'neighborhood',
  6: 'street',
  8: 'exact',
}

/** What the location service of a Linux desktop said. */
export const geoclue: VerifyPlugin = {
  name: 'geoclue',
  version: '0.1.0',
  environments: ['server', 'node'],
  description: 'GeoClue, the location service of Linux desktops',
  pointOnly: true,
  accuracyMeters: (signals) => numberOf(signals, 'accuracyMeters'),
  maxAccuracyMeters: () => 50_000,
  check({ signals, stamp }, checks) {
    checks.fail('source', signalOf(signals, 'source') === 'geoclue2', shown(signalOf(signals, 'source')), 'geoclue2')
    checks.fail('platform', signalOf(signals, 'platform') === 'linux', shown(signalOf(signals, 'platform')), 'linux')
    const accuracy = numberOf(signals, 'accuracyMeters')
    const isPossible = accuracy !== undefined && accuracy > 0 && accuracy <= 20_000_000
    checks.fail('accuracy', isPossible, shown(signalOf(signals, 'accuracyMeters')), '> 0, at most 20000000')
    const level = signalOf(signals, 'accuracyLevel')
    if (level !== undefined) {
      const name = typeof level === 'number' ? LEVEL_NUMBERS[level] : textOf(signals, 'accuracyLevel')?.toLowerCase()
      const range = name !== undefined && Object.hasOwn(LEVELS, name) ? LEVELS[name] : undefined
      const fits = range !== undefined && accuracy !== undefined && accuracy >= range[0] && accuracy <= range[1]
      checks.warn('accuracy-level', fits, accuracy ?? null, range === undefined ? null : `${range[0]}..${range[1]}`)
    }
    const speed = numberOf(signals, 'speed')
    // GeoClue says −1 where it does not know.
    if (speed !== undefined && speed !== -1) checks.warn('speed', speed >= 0 && speed <= 343, speed, 343)
    const heading = numberOf(signals, 'heading')
    if (heading !== undefined && heading !== -1) {
      checks.warn('heading', heading >= 0 && heading < 360, heading, '0..360')
      checks.warn('heading-without-speed', speed !== undefined, shown(speed), null)
    }
    const timestamp = numberOf(signals, 'timestamp')
    if (timestamp !== undefined) {
      const { start, end } = stamp.temporalFootprint
      const outside = Math.max(start - timestamp, timestamp - end, 0)
      checks.warn('timestamp', outside <= 60, outside, 60)
    }
    for (const name of ['description', 'provider']) {
      if (signalOf(signals, name) !== undefined) checks.info(name, shown(signalOf(signals, name)))
    }
    return {}
  },
}
