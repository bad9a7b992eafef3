// A reporter of Vitest. It writes the names of the tests that passed only at their second attempt to the file of
// SECOND_ATTEMPTS_FILE, one per line, so that they are not overlooked (.ci/run).
import { writeFileSync } from 'node:fs'

export default class SecondAttempts {
  #names = []

  onTestCaseResult(test) {
    if (test.diagnostic()?.flaky) this.#names.push(`${test.module.moduleId} ${test.fullName}`)
  }

  onTestRunEnd() {
    writeFileSync(process.env.SECOND_ATTEMPTS_FILE, this.#names.map((name) => `${name}\n`).join(''))
  }
}
