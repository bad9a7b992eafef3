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

/** What a list of kinds says of each. */
export type PluginDescription = Pick<VerifyPlugin, 'name' | 'version' | 'environments' | 'description'>

/** @param plugins that the operator adds */
export function pluginsOf({
  allowMock,
  plugins = [],
}: {
  readonly allowMock: boolean
  readonly plugins?: readonly PluginDescription[]
}): readonly PluginDescription[] {
  return [...PLUGINS, ...plugins, ...(allowMock ? [mock] : [])]
}

/** Names that no added kind can have. */
export function isBuiltIn(name: string): boolean {
  return name === 'mock' || name.startsWith('mock-') || PLUGINS.some((plugin) => plugin.name === name)
}

/**
 * @param name as a stamp says it; `mock-` and anything is the mock
 * @returns undefined for a kind nobody here knows
 */
export function findPlugin(name: string, config: VerifyConfig): VerifyPlugin | undefined {
  if (config.allowMock && (name === 'mock' || name.startsWith('mock-'))) return mock
  return PLUGINS.find((plugin) => plugin.name === name) ?? config.plugins?.find((plugin) => plugin.name === name)
}
