// An example plugin for docs/writing-a-plugin.md and its test: compares air pressure with the standard atmosphere.
const SEA_LEVEL_HECTOPASCALS = 1013.25
/** Weather changes the pressure by up to this much. */
const WEATHER_HECTOPASCALS = 40

/** Returns the pressure of the standard atmosphere in hectopascals, up to 11 km (ISO 2533). */
function pressureAt(altitudeMeters) {
  return SEA_LEVEL_HECTOPASCALS * (1 - (0.0065 * altitudeMeters) / 288.15) ** 5.25588
}

function numberOf(signals, name) {
  const value = Object.hasOwn(signals, name) ? signals[name] : undefined
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

export default {
  name: 'barometer',
  version: '0.1.0',
  environments: ['mobile'],
  description: 'Air pressure compared with an altitude',
  pointOnly: true,
  accuracyMeters: (signals) => numberOf(signals, 'accuracyMeters'),
  maxAccuracyMeters: () => 100_000,
  check({ signals }, checks) {
    const pressure = numberOf(signals, 'hectopascals')
    const altitude = numberOf(signals, 'altitudeMeters')
    const isPressure = pressure !== undefined && pressure >= 200 && pressure <= 1100
    const isAltitude = altitude !== undefined && altitude >= -500 && altitude <= 11_000
    checks.fail('pressure', isPressure, pressure ?? null, '200..1100')
    checks.fail('altitude', isAltitude, altitude ?? null, '-500..11000')
    if (!isPressure || !isAltitude) return {}
    const expected = Math.round(pressureAt(altitude) * 10) / 10
    const difference = Math.abs(pressure - expected)
    checks.fail('pressure-fits-altitude', difference <= WEATHER_HECTOPASCALS, difference, WEATHER_HECTOPASCALS)
    return { expectedHectopascals: expected }
  },
}

const stamp = {
  lpVersion: '0.2',
  locationType: 'geojson-point',
  location: { type: 'Point', coordinates: [6.8652, 45.8326] },
  srs: 'EPSG:4326',
  temporalFootprint: { start: 1_760_000_000, end: 1_760_000_060 },
  plugin: 'barometer',
  pluginVersion: '0.1.0',
  signals: { hectopascals: 556, altitudeMeters: 4808, accuracyMeters: 5000 },
}

/** The examples with which `plugin-test` tests the rules. */
export const examples = {
  accepts: [{ nowSeconds: 1_760_000_060, stamp }],
  rejects: [
    {
      nowSeconds: 1_760_000_060,
      check: 'pressure-fits-altitude',
      stamp: { ...stamp, signals: { ...stamp.signals, hectopascals: 1010 } },
    },
    { nowSeconds: 1_760_000_060, check: 'altitude', stamp: { ...stamp, signals: { hectopascals: 556 } } },
  ],
}
