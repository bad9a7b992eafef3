// Sums vitest's JSON reports into the one line that ends a CI run: `N passed, N failed, N skipped`.
// First argument: 1 when another step failed already; the rest are report files. Exits 1 when anything failed.
import { readFileSync } from 'node:fs'

const [stepFailed, ...files] = process.argv.slice(2)
const total = { passed: 0, failed: 0, skipped: 0 }
for (const file of files) {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'))
    total.passed += report.numPassedTests
    total.failed += report.numFailedTests
    total.skipped += report.numPendingTests + report.numTodoTests
    // A file that cannot even be loaded has no test that failed, but it must not count as green.
    if (!report.success && report.numFailedTests === 0) total.failed += Math.max(1, report.numFailedTestSuites)
  } catch (error) {
    console.error(`no report in ${file}: ${error.message}`)
    total.failed += 1
  }
}
if (stepFailed === '1' && total.failed === 0) total.failed = 1
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`)
process.exit(total.failed === 0 ? 0 : 1)
