import type { CheckCollector, VerifyPlugin } from '../plugin.ts'
import { printable, readNumber, readObjects, readSignal, readText, type Signals } from '../signals.ts'

/** The Mozilla Location Service closed on 2024-06-12. */
const MLS_RETIRED_SECONDS = 1_718_150_400

/** A position that a service derived from Wi-Fi access points in range. Their addresses never appear in a response. */
export const wifiMls: VerifyPlugin = {
  name: 'wifi-mls',
  version: '0.1.0',
  environments: ['server', 'node'],
  description: 'Position from Wi-Fi access points',
  pointOnly: true,
  accuracyMeters: (signals) => readNumber(signals, 'accuracyMeters'),
  maxAccuracyMeters: () => 5000,
  check({ signals, stamp }, checks) {
    checks.fail('source', readSignal(signals, 'source') === 'wifi', printable(readSignal(signals, 'source')), 'wifi')
    const accuracy = readNumber(signals, 'accuracyMeters')
    checks.fail(
      'accuracy',
      accuracy !== undefined && accuracy > 0,
      printable(readSignal(signals, 'accuracyMeters')),
      '> 0',
    )
    if (accuracy !== undefined) checks.warn('accuracy-usual', accuracy >= 5 && accuracy <= 50_000, accuracy, '5..50000')
    const count = readNumber(signals, 'apCount')
    const isCount = count !== undefined && Number.isInteger(count) && count >= 1 && count <= 1000
    checks.fail('ap-count', isCount, printable(readSignal(signals, 'apCount')), '1..1000')
    // A single access point gives no fix.
    if (isCount) checks.warn('ap-count-for-a-fix', count >= 2, count, 2)
    const resolver = readText(signals, 'resolver')
    if (resolver !== undefined) checks.info('resolver', resolver)
    if (resolver?.toLowerCase() === 'mls') {
      const { start } = stamp.temporalFootprint
      checks.warn('resolver-retired', start < MLS_RETIRED_SECONDS, start, MLS_RETIRED_SECONDS)
    }
    if (readSignal(signals, 'accessPoints') === undefined) return {}
    const points = readObjects(signals, 'accessPoints')
    if (
      !checks.fail('access-points', points !== undefined, points === undefined ? 'malformed' : points.length, 'objects')
    ) {
      return {}
    }
    return checkAccessPoints(points ?? [], count, checks)
  },
}

const MAC = /^[0-9a-f]{2}([:-]?)(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}$/

function checkAccessPoints(points: readonly Signals[], count: number | undefined, checks: CheckCollector) {
  checks.fail('access-point-count', points.length === count, points.length, count ?? null)
  const texts = points.map((point) => (readText(point, 'macAddress') ?? '').toLowerCase())
  const malformed = texts.filter((text) => !MAC.test(text)).length
  checks.fail('mac-syntax', malformed === 0, malformed, 0)
  const addresses = texts.filter((text) => MAC.test(text)).map((text) => text.replace(/[:-]/g, ''))
  const firstBytes = addresses.map((address) => Number.parseInt(address.slice(0, 2), 16))
  const blank = addresses.filter((address) => /^(?:0{12}|f{12})$/.test(address)).length
  checks.fail('mac-blank', blank === 0, blank, 0)
  const multicast = firstBytes.filter((byte) => (byte & 1) === 1).length
  checks.fail('mac-multicast', multicast === 0, multicast, 0)
  const duplicates = addresses.length - new Set(addresses).size
  checks.fail('mac-duplicates', duplicates === 0, duplicates, 0)
  // Locally administered addresses are not assigned to hardware: phones that share their connection use them, and so do forgers.
  const local = firstBytes.filter((byte) => (byte & 2) === 2).length
  checks.warn('mac-locally-administered', local === 0, local, 0)
  const global = addresses.filter((_, index) => (firstBytes[index]! & 3) === 0)
  const makers = new Set(global.map((address) => address.slice(0, 6))).size
  checks.warn('mac-makers', makers >= 2, makers, 2)
  const strengths = points.map((point) => readNumber(point, 'signalStrength'))
  const impossible = strengths.filter((rssi) => rssi === undefined || rssi < -110 || rssi > -10).length
  checks.fail('signal-strength', impossible === 0, impossible, 0)
  const nomap = points.filter((point) => (readText(point, 'ssid') ?? '').endsWith('_nomap')).length
  checks.warn('nomap-privacy', nomap === 0, nomap, 0)
  return { accessPoints: { counted: global.length, makers } }
}
