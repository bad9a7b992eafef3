import { checkSamePosition, type VerifyConfig, type VerifyPlugin } from '../plugin.ts'
import { printable, readNumber, readSignal } from '../signals.ts'
import { geoclue } from './geoclue.ts'
import { gpsd } from './gpsd.ts'
import { ipGeolocation } from './ip-geolocation.ts'
import { proofmode } from './proofmode.ts'
import { wifiMls } from './wifi-mls.ts'
import { witnesschain } from './witnesschain.ts'

/** Evidence for development that proves nothing: the signature is real, the observation is made up. */
export const mock: VerifyPlugin = {
  name: 'mock',
  version: '0.1.0',
  environments: ['server', 'node', 'mobile'],
  description: 'Made-up observations for development; proves nothing',
  pointOnly: false,
  accuracyMeters: (signals) => readNumber(signals, 'accuracy'),
  maxAccuracyMeters: () => 1_000_000,
  check({ signals, point }, checks) {
    const provider = readSignal(signals, 'provider')
    if (provider !== undefined) checks.fail('provider', provider === 'mock', printable(provider), 'mock')
    checkSamePosition(
      checks,
      'signals-location',
      point,
      readNumber(signals, 'latitude'),
      readNumber(signals, 'longitude'),
    )
    return { mock: true }
  },
}

/** Every built-in plugin except `mock`, in the order of the public list. Add new plugins here. */
const PLUGINS: readonly VerifyPlugin[] = [proofmode, witnesschain, gpsd, geoclue, wifiMls, ipGeolocation]

/** The members of a plugin in the public list. */
export type PluginDescription = Pick<VerifyPlugin, 'name' | 'version' | 'environments' | 'description'>

/**
 * Returns the list of plugins: built-in ones, added ones, and the mock if it is allowed.
 *
 * @param plugins that the operator adds
 */
export function listPlugins({
  allowMock,
  plugins = [],
}: {
  readonly allowMock: boolean
  readonly plugins?: readonly PluginDescription[]
}): readonly PluginDescription[] {
  return [...PLUGINS, ...plugins, ...(allowMock ? [mock] : [])]
}

/** Returns true for names that an added plugin must not have. */
export function isBuiltIn(name: string): boolean {
  return name === 'mock' || name.startsWith('mock-') || PLUGINS.some((plugin) => plugin.name === name)
}

/**
 * Finds the plugin for a stamp.
 *
 * @param name as the stamp gives it; every name that starts with `mock-` is the mock
 * @returns undefined for an unknown plugin
 */
export function findPlugin(name: string, config: VerifyConfig): VerifyPlugin | undefined {
  if (config.allowMock && (name === 'mock' || name.startsWith('mock-'))) return mock
  return PLUGINS.find((plugin) => plugin.name === name) ?? config.plugins?.find((plugin) => plugin.name === name)
}
