import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Config } from '../../config/config.ts'
import { ConfigError } from '../../config/setting.ts'
import { javascriptKeccak } from '../../crypto/noble.ts'
import type { ComputePool, EvidenceSettings } from '../../threads/compute-pool.ts'
import { runPluginTrial } from '../../threads/plugin-trial.ts'
import { readDeviceTrust } from '../../verify/device/trust.ts'
import { readDidDocument } from '../../verify/did-web.ts'
import type { DidKey, DidKeys } from '../../wire/compute-messages.ts'
import type { AddedPlugin, VerifyResult, VerifyTask } from '../../wire/evidence-messages.ts'
import { type RequestContext, rejectExpired } from '../request.ts'

/** Runs a task about evidence in the compute threads. Problems come back as data. */
export type EvidenceRunner = (task: VerifyTask, context: RequestContext) => Promise<VerifyResult>

/**
 * Makes the function that runs evidence tasks in the lane for their size. The size does not show how much work the locations need: if
 * they need too much, the small lane gives up and the large lane takes the task.
 *
 * @param now milliseconds since the epoch
 */
export function createEvidenceRunner(
  { limits }: Pick<Config, 'limits'>,
  pool: Pick<ComputePool, 'runVerify'>,
  now: () => number,
): EvidenceRunner {
  return async (task, context) => {
    const { client, costs, deadlineMs } = context
    const job = { task, client, costs, deadlineMs, isAborted: () => context.aborted }
    const isSmall = task.body.byteLength <= limits.smallBodyBytes
    const first = await pool.runVerify(job, isSmall)
    const result = isSmall && needsMoreWork(first) ? await pool.runVerify(job, false) : first
    // The task may finish after the deadline. A client that already got an error must not get an attestation.
    rejectExpired(context, now())
    return result
  }
}

function needsMoreWork(result: VerifyResult): boolean {
  return !result.ok && result.problem.type === 'too-complex'
}

/** The operator's settings for evidence, and the descriptions of the plugins that the operator adds. */
interface AddedEvidence {
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

/** Limits: documents in the folder, and bytes of each. */
const MAX_DOCUMENTS = 1000
const MAX_BYTES = 65_536

/**
 * Reads the operator's `did:web` documents: each `.json` file in the folder and its subfolders, such as
 * `example.org/.well-known/did.json`. They are never fetched from the network.
 *
 * @returns keys by the document's `id`
 * @throws {ConfigError} with the file and its fault
 */
export function readDidDocuments(folder: string): DidKeys {
  const folderError = (fault: string, cause?: unknown) =>
    new ConfigError(`DID_WEB_DIR=${JSON.stringify(folder)}: ${fault}`, { cause })
  const files = listFiles(folder, folderError)
  if (files.length > MAX_DOCUMENTS) throw folderError(`${files.length} documents, more than ${MAX_DOCUMENTS}`)
  const keccak = javascriptKeccak()
  const documents = new Map<string, readonly DidKey[]>()
  for (const file of files) {
    const path = join(folder, file)
    if (statSync(path).size > MAX_BYTES) throw folderError(`${file}: more than ${MAX_BYTES} bytes`)
    try {
      const { id, keys } = readDidDocument(readFileSync(path, 'utf8'), keccak)
      if (documents.has(id)) throw new TypeError(`${id} is already defined by another file`)
      documents.set(id, keys)
    } catch (error) {
      throw folderError(`${file}: ${(error as Error).message}`, error)
    }
  }
  return documents
}

function listFiles(folder: string, folderError: (fault: string, cause: unknown) => ConfigError): string[] {
  try {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return files.filter((file) => file.endsWith('.json')).sort()
  } catch (error) {
    throw folderError((error as Error).message, error)
  }
}
