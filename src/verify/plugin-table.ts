import type { VerifyConfig, VerifyPlugin } from './plugin.ts'
import { geoclue } from './plugins/geoclue.ts'
import { gpsd } from './plugins/gpsd.ts'
import { ipGeolocation } from './plugins/ip-geolocation.ts'
import { mock } from './plugins/mock.ts'
import { proofmode } from './plugins/proofmode.ts'
import { wifiMls } from './plugins/wifi-mls.ts'
import { witnesschain } from './plugins/witnesschain.ts'

/** Every kind of evidence there is, in the order of the list: a new one is a new row. */
const PLUGINS: readonly VerifyPlugin[] = [proofmode, witnesschain, gpsd, geoclue, wifiMls, ipGeolocation]

export function pluginsOf({ allowMock, plugins = [] }: VerifyConfig): readonly VerifyPlugin[] {
  return [...PLUGINS, ...plugins, ...(allowMock ? [mock] : [])]
}

/**
 * @param name as a stamp says it; `mock-` and anything is the mock
 * @returns undefined for a kind nobody here knows
 */
export function findPlugin(name: string, config: VerifyConfig): VerifyPlugin | undefined {
  if (config.allowMock && (name === 'mock' || name.startsWith('mock-'))) return mock
  return PLUGINS.find((plugin) => plugin.name === name) ?? config.plugins?.find((plugin) => plugin.name === name)
}
