// Sums up vitest's JSON reports in the last line of a CI run: `N passed, N failed, N skipped`. A test in several reports, of several
// releases of Node.js, counts once, as failed if it failed in any. The first argument names the steps that failed, or is empty; the
// others are report files. SECOND_ATTEMPTS_FILE is that of second-attempts.mjs. Above the last line are the tests that passed only at
// their second attempt, and what failed, and why. Exits with 1 when anything failed.
import { readFileSync } from 'node:fs'

// A message with the diff of two long values can have thousands of lines.
const MESSAGE_CHARACTERS = 2000

const [failedSteps, ...files] = process.argv.slice(2)
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
    // Neither has an error outside of any test, such as the end of a worker process.
    if (!report.success && report.numFailedTests === 0) {
      failed += Math.max(1, report.numFailedTestSuites)
      console.log(`failed outside of any test: see the errors above (${file})`)
    }
    printFailures(report)
  } catch (error) {
    console.error(`no report in ${file}: ${error.message}`)
    failed += 1
  }
}
const count = (status) => [...statusByTest.values()].filter((other) => other === status).length
failed += count('failed')
for (const name of readFileSync(process.env.SECOND_ATTEMPTS_FILE, 'utf8').split('\n').filter(Boolean))
  console.log(`passed at the second attempt: ${name}`)
if (failedSteps !== '') {
  console.log(`failed steps: ${failedSteps}`)
  failed = Math.max(1, failed)
}
console.log(`${count('passed')} passed, ${failed} failed, ${count('skipped')} skipped`)
process.exit(failed === 0 ? 0 : 1)

/** Prints the tests and the files that failed, with the start of their messages. */
function printFailures({ testResults }) {
  const print = (name, message) => console.log(`failed: ${name}\n${message.slice(0, MESSAGE_CHARACTERS)}\n`)
  for (const { name: file, status, message, assertionResults } of testResults) {
    const failures = assertionResults.filter((result) => result.status === 'failed')
    for (const { fullName, failureMessages } of failures) print(`${file} ${fullName}`, failureMessages.join('\n'))
    if (status === 'failed' && failures.length === 0) print(file, message)
  }
}

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
