// Runs tests on the releases of Node.js in node-releases.json, with the binaries that the npm registry has. Everything is built on
// the installed release and then run on the others. A release that cannot be downloaded is skipped, with the reason.
// The argument is the folder of Vitest's reports, one for each release; without it there are none.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { ensureBuilt, ensureInstalled, requireNode, root } from './prepare.mjs'

/**
 * All unit tests, and of the others one file for each thing that differs between releases: HTTP and its fetch, threads and their
 * heaps, the signer, the embedded database, the command line, and the package as it is installed.
 */
const TESTS = [
  'test/unit/',
  'test/contract/compute.test.ts',
  'test/contract/http-lifecycle.test.ts',
  'test/integration/signer-thread.test.ts',
  'test/integration/young-heaps.test.ts',
  'test/program/cli-service.test.ts',
  'test/program/container.test.ts',
  'test/program/package.test.ts',
  'test/store/record-feeds.test.ts',
]
const RELEASES = JSON.parse(readFileSync(join(root, 'scripts', 'node-releases.json'), 'utf8'))

requireNode()
await ensureInstalled()
await ensureBuilt()
const reports = process.argv[2]
for (const [version, checksums] of Object.entries(RELEASES)) {
  const report = reports === undefined ? undefined : join(reports, `node-${version}.json`)
  const { node, reason } = provideNode(version, checksums)
  if (node !== undefined) {
    if (runTests(node, report) !== 0) process.exitCode = 1
    continue
  }
  console.log(`skipped: the tests on Node.js ${version}: ${reason}`)
  if (report !== undefined) writeFileSync(report, JSON.stringify(skippedReport(version)))
}

/**
 * Returns the program of a release, which is downloaded once.
 *
 * @param checksums the npm integrity of the package for each platform
 * @returns the path of the program, or the reason why there is none
 * @throws {Error} if the package has another checksum
 */
function provideNode(version, checksums) {
  const platform = `${process.platform}-${process.arch}`
  const expected = checksums[platform]
  if (expected === undefined) return { reason: `node-releases.json has no binary for ${platform}` }
  const folder = join(root, '.data', 'node', `${version}-${platform}`)
  const node = join(folder, 'bin', 'node')
  if (existsSync(node)) return { node }
  const temporary = `${folder}.${process.pid}.tmp`
  mkdirSync(temporary, { recursive: true })
  try {
    // npm has its own cache of downloads. With more retries, it would take minutes to find out that there is no network.
    const flags = ['--prefer-offline', '--fetch-retries=1', '--loglevel=error', '--pack-destination', temporary]
    const packed = spawnSync('npm', ['pack', `node-${platform}@${version}`, ...flags], { encoding: 'utf8' })
    if (packed.status !== 0) {
      const [line] = packed.stderr.trim().split('\n')
      return { reason: `its binary cannot be downloaded (${line})` }
    }
    const tarball = join(temporary, packed.stdout.trim())
    const actual = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`
    if (actual !== expected) throw new Error(`node-${platform}@${version} has the checksum ${actual}, not ${expected}`)
    const extracted = spawnSync('tar', ['-xzf', tarball, '-C', temporary, '--strip-components=1'], { encoding: 'utf8' })
    if (extracted.status !== 0) throw new Error(`tar cannot extract ${tarball}: ${extracted.stderr}`)
    rmSync(tarball)
    renameSync(temporary, folder)
    return { node }
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

/** Runs the tests on a release. Programs that they start with `npx` or `node` run on it too. Returns the exit status. */
function runTests(node, report) {
  const flags = report === undefined ? [] : ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const { status } = spawnSync(node, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...TESTS, ...flags], {
    cwd: root,
    stdio: 'inherit',
    // The installed release has tried all generated cases.
    env: { TEST_SCALE: '0.05', ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` },
  })
  return status ?? 1
}

/** Returns a report like Vitest's with one skipped test, so that scripts/count.mjs counts it. */
function skippedReport(version) {
  const assertionResults = [{ fullName: `the tests on Node.js ${version}`, status: 'skipped' }]
  return { success: true, numFailedTests: 0, testResults: [{ name: 'scripts/other-nodes.mjs', assertionResults }] }
}
