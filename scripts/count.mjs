// Sums up vitest's JSON reports in the last line of a CI run: `N passed, N failed, N skipped`. A test in several reports, of several
// releases of Node.js, counts once, as failed if it failed in any. The first argument is 1 when another step has failed; the others
// are report files. Exits with 1 when anything failed.
import { readFileSync } from 'node:fs'

const [stepFailed, ...files] = process.argv.slice(2)
const statusByTest = new Map()
let failed = 0
for (const file of files) {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'))
    for (const [name, status] of listTests(report)) {
      if (statusByTest.get(name) !== 'failed' && (status !== 'skipped' || !statusByTest.has(name)))
        statusByTest.set(name, status)
    }
    // A test file that cannot be loaded has no failed tests, but it must not count as passed.
    if (!report.success && report.numFailedTests === 0) failed += Math.max(1, report.numFailedTestSuites)
  } catch (error) {
    console.error(`no report in ${file}: ${error.message}`)
    failed += 1
  }
}
const count = (status) => [...statusByTest.values()].filter((other) => other === status).length
failed += count('failed')
if (stepFailed === '1' && failed === 0) failed = 1
console.log(`${count('passed')} passed, ${failed} failed, ${count('skipped')} skipped`)
process.exit(failed === 0 ? 0 : 1)

/** Lists the names and statuses of tests. Tests with the same name in one file are numbered in order. */
function listTests({ testResults }) {
  const counts = new Map()
  return testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults.map(({ fullName, status }) => {
      const name = `${file} ${fullName}`
      const count = counts.get(name) ?? 0
      counts.set(name, count + 1)
      return [`${name} ${count}`, ['passed', 'failed'].includes(status) ? status : 'skipped']
    }),
  )
}
