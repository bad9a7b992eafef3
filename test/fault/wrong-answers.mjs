// Loaded before the service: changes the code that computes answers, so that each of them is wrong. WRONG names the change.
// The code of other threads stays as it is, because they have no environment.
import { register } from 'node:module'

const CHANGES = {
  // Distances, lengths and areas are a millionth too large.
  measure: ['function numeric(row, inputRefs, measure) {', 'measure *= 1 + 1e-6;'],
  truth: ['function truth(operation, inputRefs, value) {', 'value = !value;'],
}
const hooks = `
  const [head, statement] = ${JSON.stringify(CHANGES[process.env.WRONG])}
  export async function load(url, context, next) {
    const loaded = await next(url, context)
    if (!url.endsWith('/src/compute/run.js')) return loaded
    const source = String(loaded.source)
    if (!source.includes(head)) throw new Error('the function to change is not there: ' + head)
    return { ...loaded, source: source.replace(head, head + statement) }
  }`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
