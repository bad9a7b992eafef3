import type { VerifyPlugin } from '../plugin.ts'
import { printable, readNumber, readSignal, readText } from '../signals.ts'

/** The range of accuracy in metres for each accuracy level of GeoClue. */
const ACCURACY_RANGES: Readonly<Record<string, readonly [atLeast: number, atMost: number]>> = {
  country: [10_000, 20_000_000],
  city: [1000, 100_000],
  neighborhood: [100, 10_000],
  street: [10, 2000],
  exact: [0, 100],
}
/** Names of the values of GClueAccuracyLevel. */
const LEVEL_NUMBERS: Readonly<Record<number, string>> = {
  1: 'country',
  4: 'city',
  5: 'neighborhood',
  6: 'street',
  8: 'exact',
}

/** A position from the location service of a Linux desktop. */
export const geoclue: VerifyPlugin = {
  name: 'geoclue',
  version: '0.1.0',
  environments: ['server', 'node'],
  description: 'GeoClue, the location service of Linux desktops',
  pointOnly: true,
  accuracyMeters: (signals) => readNumber(signals, 'accuracyMeters'),
  maxAccuracyMeters: () => 50_000,
  check({ signals, stamp }, checks) {
    checks.fail(
      'source',
      readSignal(signals, 'source') === 'geoclue2',
      printable(readSignal(signals, 'source')),
      'geoclue2',
    )
    checks.fail(
      'platform',
      readSignal(signals, 'platform') === 'linux',
      printable(readSignal(signals, 'platform')),
      'linux',
    )
    const accuracy = readNumber(signals, 'accuracyMeters')
    const isPossible = accuracy !== undefined && accuracy > 0 && accuracy <= 20_000_000
    checks.fail('accuracy', isPossible, printable(readSignal(signals, 'accuracyMeters')), '> 0, at most 20000000')
    const level = readSignal(signals, 'accuracyLevel')
    if (level !== undefined) {
      const name = typeof level === 'number' ? LEVEL_NUMBERS[level] : readText(signals, 'accuracyLevel')?.toLowerCase()
      const range = name !== undefined && Object.hasOwn(ACCURACY_RANGES, name) ? ACCURACY_RANGES[name] : undefined
      const isInRange = range !== undefined && accuracy !== undefined && accuracy >= range[0] && accuracy <= range[1]
      checks.warn(
        'accuracy-level',
        isInRange,
        accuracy ?? null,
        range === undefined ? null : `${range[0]}..${range[1]}`,
      )
    }
    // GeoClue reports metres per second, or −1 for an unknown value. 343 is the speed of sound.
    const speed = readNumber(signals, 'speed')
    if (speed !== undefined && speed !== -1) checks.warn('speed', speed >= 0 && speed <= 343, speed, 343)
    const heading = readNumber(signals, 'heading')
    if (heading !== undefined && heading !== -1) {
      checks.warn('heading', heading >= 0 && heading < 360, heading, '0..360')
      checks.warn('heading-without-speed', speed !== undefined, printable(speed), null)
    }
    const timestamp = readNumber(signals, 'timestamp')
    if (timestamp !== undefined) {
      const { start, end } = stamp.temporalFootprint
      const outsideSeconds = Math.max(start - timestamp, timestamp - end, 0)
      checks.warn('timestamp', outsideSeconds <= 60, outsideSeconds, 60)
    }
    for (const name of ['description', 'provider']) {
      if (readSignal(signals, name) !== undefined) checks.info(name, printable(readSignal(signals, name)))
    }
    return {}
  },
}
