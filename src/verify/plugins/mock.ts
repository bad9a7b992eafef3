import type { VerifyPlugin } from '../plugin.ts'
import { checkSamePlace } from '../same-place.ts'
import { numberOf, shown, signalOf } from '../signals.ts'

/** Evidence of nothing, for development: the signature is real, the observation is made up. */
export const mock: VerifyPlugin = {
  name: 'mock',
  version: '0.1.0',
  environments: ['server', 'node', 'mobile'],
  description: 'Made-up observations for development; proves nothing',
  pointOnly: false,
  accuracyMeters: (signals) => numberOf(signals, 'accuracy'),
  maxAccuracyMeters: () => 1_000_000,
  check({ signals, point }, checks) {
    const provider = signalOf(signals, 'provider')
    if (provider !== undefined) checks.fail('provider', provider === 'mock', shown(provider), 'mock')
    checkSamePlace(checks, 'signals-location', point, numberOf(signals, 'latitude'), numberOf(signals, 'longitude'))
    return { mock: true }
  },
}
