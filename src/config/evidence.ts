/** Settings of the evaluation of evidence: plugins, trusted witnesses and devices. */
import { EVALUATION_MODES, OWN_EVALUATION } from '../wire/compute-messages.ts'
import { choice, constant, flag, list, optionalText, parsed, productionFlag, shortText, splitList } from './setting.ts'

export const EVIDENCE_SETTINGS = {
  /** True: the `mock` plugin is enabled. Its stamps prove nothing. */
  allowMock: productionFlag('ENABLE_MOCK'),
  /** Addresses and Ed25519 keys of trusted latency witnesses, 0x and lower case. undefined: every witness counts. */
  witnesses: parsed<readonly string[] | undefined>('WITNESSES', undefined, (value, fail) => {
    const entries = splitList(value)
    // A mistyped entry would silently match no witness.
    if (!entries.every((entry) => /^0x(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/.test(entry)))
      fail('addresses or public keys (0x and 40 or 64 hex digits), separated by commas')
    return entries.map((entry) => entry.toLowerCase())
  }),
  /** True: the older version of the verify API is served as well. */
  olderVerify: flag('LEGACY_V1', true),
  /** Modules of the plugins that the operator adds. */
  pluginFiles: list('PLUGINS'),
  /**
   * Where and how proofs are evaluated, as responses report it. This is the operator's claim; no code depends on it (decision
   * 130).
   */
  evaluation: {
    mode: choice('EVALUATION_MODE', EVALUATION_MODES),
    method: shortText('EVALUATION_METHOD', OWN_EVALUATION.method, 64),
  },
  /** JSON file that says which devices and apps are trusted. */
  deviceTrustFile: optionalText('DEVICE_TRUST_FILE'),
  /** Folder with the DID documents of `did:web` signers. */
  didWebDir: optionalText('DID_WEB_DIR'),
}

export const EVIDENCE_LIMITS = {
  /** Longest time that an added plugin may take to load. */
  pluginLoadMs: constant(10_000),
  /** Longest time that a plugin may take to run in `plugin-test`. */
  pluginTrialMs: constant(120_000),
  /**
   * How long the evaluation of evidence may continue after its deadline, or while the service stops, before its thread is
   * terminated.
   */
  evidenceGraceMs: constant(2000),
}
