import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Config, ConfigError } from '../config.ts'
import type { AddedPlugin } from '../evidence-messages.ts'
import type { EvidenceSettings } from '../threads/compute-lanes.ts'
import { runPluginTrial } from '../threads/plugin-trial.ts'
import { readDeviceTrust } from '../verify/device/read-trust.ts'
import { readDidDocuments } from './did-documents.ts'

/** What an operator says about evidence, and what the kinds that he adds say of themselves. */
export interface AddedEvidence {
  readonly settings: EvidenceSettings
  readonly plugins: readonly AddedPlugin[]
}

/**
 * Reads the file on devices, and tries each added module once in a thread of its own: what cannot be loaded ends the
 * start instead of every later request.
 *
 * @throws {ConfigError} naming the setting and what is wrong with it
 */
export async function readEvidenceSettings(config: Config): Promise<AddedEvidence> {
  const pluginUrls = config.pluginFiles.map((file) => pathToFileURL(resolve(file)).href)
  const plugins: AddedPlugin[] = []
  for (const [index, url] of pluginUrls.entries()) {
    const result = await runPluginTrial(url, 'describe', config)
    const refuse = (why: string) => new ConfigError(`PLUGINS: ${config.pluginFiles[index]}: ${why}`)
    if (!result.ok) throw refuse(result.reason)
    if (plugins.some(({ name }) => name === result.plugin.name)) throw refuse(`${result.plugin.name} is there already`)
    plugins.push(result.plugin)
  }
  const deviceTrust = config.deviceTrustFile === undefined ? undefined : readTrustFile(config.deviceTrustFile)
  const didKeys = config.didWebDir === undefined ? undefined : readDidDocuments(config.didWebDir)
  const { allowMock, witnesses, evaluation } = config
  return { settings: { allowMock, witnesses, deviceTrust, didKeys, evaluation, pluginUrls }, plugins }
}

function readTrustFile(file: string): EvidenceSettings['deviceTrust'] {
  try {
    return readDeviceTrust(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new ConfigError(`DEVICE_TRUST_FILE=${JSON.stringify(file)}: ${(error as Error).message}`, { cause: error })
  }
}
