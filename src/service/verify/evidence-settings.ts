import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Config, ConfigError } from '../../config/config.ts'
import type { EvidenceSettings } from '../../threads/compute-lanes.ts'
import { runPluginTrial } from '../../threads/plugin-trial.ts'
import { readDeviceTrust } from '../../verify/device/read-trust.ts'
import type { AddedPlugin } from '../../wire/evidence-messages.ts'
import { readDidDocuments } from './did-documents.ts'

/** The operator's settings for evidence, and the descriptions of the plugins that the operator adds. */
export interface AddedEvidence {
  readonly settings: EvidenceSettings
  readonly plugins: readonly AddedPlugin[]
}

/**
 * Reads the device trust file and the DID documents, and tries each added plugin once in a separate thread. A plugin that cannot
 * be loaded stops the service at startup, rather than failing every later request.
 *
 * @throws {ConfigError} with the setting and its fault
 */
export async function readEvidenceSettings(config: Config): Promise<AddedEvidence> {
  const pluginUrls = config.pluginFiles.map((file) => pathToFileURL(resolve(file)).href)
  const plugins: AddedPlugin[] = []
  for (const [index, url] of pluginUrls.entries()) {
    const result = await runPluginTrial(url, 'describe', config)
    const pluginError = (reason: string) => new ConfigError(`PLUGINS: ${config.pluginFiles[index]}: ${reason}`)
    if (!result.ok) throw pluginError(result.reason)
    if (plugins.some(({ name }) => name === result.plugin.name))
      throw pluginError(`a plugin named ${result.plugin.name} already exists`)
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
