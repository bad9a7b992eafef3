import type { CheckCollector, PluginContext, VerifyPlugin } from '../plugin.ts'
import { checkSamePosition } from '../plugin.ts'
import {
  parseTime,
  printable,
  readNumber,
  readObject,
  readObjects,
  readSignal,
  readText,
  type Signals,
} from '../signals.ts'

/** A position from a satellite receiver, read through gpsd (gpsd_json(5)). */
export const gpsd: VerifyPlugin = {
  name: 'gpsd',
  version: '0.1.0',
  environments: ['server', 'node'],
  description: 'Satellite receiver read through gpsd',
  pointOnly: true,
  accuracyMeters: (signals) => readNumber(signals, 'accuracyMeters'),
  maxAccuracyMeters: () => 100,
  check(context, checks) {
    const { signals } = context
    checks.fail('source', readSignal(signals, 'source') === 'gpsd', printable(readSignal(signals, 'source')), 'gpsd')
    const mode = readNumber(signals, 'mode')
    checks.fail('fix-mode', mode === 2 || mode === 3, printable(readSignal(signals, 'mode')), '2 or 3')
    const accuracy = readNumber(signals, 'accuracyMeters')
    checks.fail(
      'accuracy',
      accuracy !== undefined && accuracy > 0,
      printable(readSignal(signals, 'accuracyMeters')),
      '> 0',
    )
    if (accuracy !== undefined) checks.warn('accuracy-too-good', accuracy >= 0.01, accuracy, 0.01)
    const altitude = readNumber(signals, 'altitudeMeters')
    if (altitude !== undefined) checks.warn('altitude', altitude >= -500 && altitude <= 20_000, altitude, '-500..20000')
    const speed = readNumber(signals, 'speedMs')
    // Receivers for civil use stop working beyond 1,000 knots (COCOM).
    if (speed !== undefined) checks.fail('speed', speed >= 0 && speed <= 515, speed, 515)
    const tpv = readObject(signals, 'tpv')
    if (tpv !== undefined) checkTpv(tpv, mode, accuracy, context, checks)
    const sky = readObject(signals, 'sky')
    if (sky !== undefined) checkSky(sky, mode, accuracy, checks)
    return {}
  },
}

/** Checks the report of a fix. */
function checkTpv(
  tpv: Signals,
  mode: number | undefined,
  accuracy: number | undefined,
  { stamp, point, distanceMeters }: PluginContext,
  checks: CheckCollector,
): void {
  checks.fail('tpv-class', readSignal(tpv, 'class') === 'TPV', printable(readSignal(tpv, 'class')), 'TPV')
  checks.fail('tpv-mode', readNumber(tpv, 'mode') === mode, printable(readSignal(tpv, 'mode')), mode ?? null)
  checks.fail(
    'tpv-simulated',
    readNumber(tpv, 'status') !== 8,
    printable(readSignal(tpv, 'status')),
    'not 8 (simulated)',
  )
  checkSamePosition(checks, 'tpv-location', point, readNumber(tpv, 'lat'), readNumber(tpv, 'lon'), true)
  const timeSeconds = parseTime(readText(tpv, 'time'))
  if (timeSeconds !== undefined) {
    const { start, end } = stamp.temporalFootprint
    const outsideSeconds = Math.max(start - timeSeconds, timeSeconds - end, 0)
    checks.fail('tpv-time', outsideSeconds <= 60, outsideSeconds, 60)
    checks.warn('tpv-time-near', outsideSeconds <= 5, outsideSeconds, 5)
  } else checks.warn('tpv-time-near', false, printable(readSignal(tpv, 'time')), 'ISO 8601')
  const [epx, epy] = [readNumber(tpv, 'epx'), readNumber(tpv, 'epy')]
  const error = readNumber(tpv, 'eph') ?? (epx === undefined || epy === undefined ? undefined : Math.hypot(epx, epy))
  if (error !== undefined && accuracy !== undefined) {
    checks.warn('tpv-error', error <= accuracy * 1.5 + 1, error, accuracy * 1.5 + 1)
  }
  const ecef = ['ecefx', 'ecefy', 'ecefz'].map((name) => readNumber(tpv, name))
  if (point !== undefined && ecef.every((value) => value !== undefined)) {
    const errorMeters = distanceMeters(toGeodetic(ecef[0]!, ecef[1]!, ecef[2]!), point)
    checks.fail('tpv-ecef', errorMeters <= 100, errorMeters, 100)
  }
}

/** Checks the report of the satellites in view. */
function checkSky(sky: Signals, mode: number | undefined, accuracy: number | undefined, checks: CheckCollector): void {
  checks.fail('sky-class', readSignal(sky, 'class') === 'SKY', printable(readSignal(sky, 'class')), 'SKY')
  const satellites = readObjects(sky, 'satellites') ?? []
  const counted = satellites.filter((satellite) => readSignal(satellite, 'used') === true).length
  const used = satellites.length > 0 ? counted : readNumber(sky, 'uSat')
  if (used !== undefined) {
    const needed = mode === 3 ? 4 : 3
    checks.fail('sky-used', used >= needed, used, needed)
  }
  const hdop = readNumber(sky, 'hdop')
  if (hdop !== undefined) {
    checks.warn('sky-hdop', hdop <= 20, hdop, 20)
    if (accuracy !== undefined) checks.warn('sky-hdop-accuracy', accuracy >= 0.5 * hdop, accuracy, 0.5 * hdop)
  }
  if (satellites.length < 2) return
  const strengths = satellites.map((satellite) => readNumber(satellite, 'ss')).filter((value) => value !== undefined)
  const elevations = satellites.map((satellite) => readNumber(satellite, 'el')).filter((value) => value !== undefined)
  const allEqual = strengths.length > 1 && new Set(strengths).size === 1
  const allLow = elevations.length > 1 && elevations.every((elevation) => elevation < 5)
  checks.warn('synthetic-sky', !allEqual && !allLow, allEqual ? 'equal signal strengths' : allLow ? 'low' : null, null)
  const names = satellites.map(
    (satellite) => `${printable(readSignal(satellite, 'gnssid'))}/${printable(readSignal(satellite, 'PRN'))}`,
  )
  const duplicates = names.length - new Set(names).size
  checks.warn('sky-duplicates', duplicates === 0, duplicates, 0)
}

/**
 * Converts earth-centred coordinates to longitude and latitude by Bowring's formula; the error near the surface is well
 * below 1 m.
 */
function toGeodetic(x: number, y: number, z: number) {
  const a = 6_378_137
  const b = 6_356_752.314245
  const e2 = 1 - (b * b) / (a * a)
  const p = Math.hypot(x, y)
  const angle = Math.atan2(z * a, p * b)
  const lat = Math.atan2(z + ((e2 * a * a) / b) * Math.sin(angle) ** 3, p - e2 * a * Math.cos(angle) ** 3)
  return { lon: (Math.atan2(y, x) * 180) / Math.PI, lat: (lat * 180) / Math.PI }
}
