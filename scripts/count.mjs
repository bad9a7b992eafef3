// Sums vitest's JSON reports into the one line that ends a CI run: `N passed, N failed, N skipped`. A test that two reports have,
// with few generated cases and with all of them, counts once, and as failed when it failed in one.
// First argument: 1 when another step failed already; the rest are report files. Exits 1 when anything failed.
import { readFileSync } from 'node:fs'

const [stepFailed, ...files] = process.argv.slice(2)
const statusOf = new Map()
let failed = 0
for (const file of files) {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'))
    for (const [name, status] of testsOf(report)) {
      if (statusOf.get(name) !== 'failed' && (status !== 'skipped' || !statusOf.has(name))) statusOf.set(name, status)
    }
    // A file that cannot even be loaded has no test that failed, but it must not count as green.
    if (!report.success && report.numFailedTests === 0) failed += Math.max(1, report.numFailedTestSuites)
  } catch (error) {
    console.error(`no report in ${file}: ${error.message}`)
    failed += 1
  }
}
const count = (status) => [...statusOf.values()].filter((other) => other === status).length
failed += count('failed')
if (stepFailed === '1' && failed === 0) failed = 1
console.log(`${count('passed')} passed, ${failed} failed, ${count('skipped')} skipped`)
process.exit(failed === 0 ? 0 : 1)

/** Names of tests with their status; tests of one name in one file are told apart by their order. */
function testsOf({ testResults }) {
  const seen = new Map()
  return testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults.map(({ fullName, status }) => {
      const name = `${file} ${fullName}`
      const before = seen.get(name) ?? 0
      seen.set(name, before + 1)
      return [`${name} ${before}`, ['passed', 'failed'].includes(status) ? status : 'skipped']
    }),
  )
}
