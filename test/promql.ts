/** A parser for enough of PromQL to check whether Prometheus accepts a dashboard's expressions, and which metrics they use. */

export interface Selector {
  readonly metric: string
  /** Labels in its matchers. */
  readonly labels: readonly string[]
  /** Whether it has a range, as in `[5m]`. */
  readonly isRange: boolean
}

export interface Query {
  readonly selectors: readonly Selector[]
  /** Labels by which it groups. */
  readonly groupings: readonly string[]
}

const TOKEN =
  /\s+|"(?:[^"\\]|\\.)*"|\[(?:\d+(?:ms|[smhdwy])|\$__rate_interval|\$__range|\$__interval)\]|=~|!~|!=|==|<=|>=|\d+(?:\.\d+)?(?:e[+-]?\d+)?|[A-Za-z_:][A-Za-z0-9_:]*|[-+*/%^<>=(){},]/y
const AGGREGATIONS = ['sum', 'avg', 'min', 'max', 'count', 'topk', 'bottomk', 'quantile', 'stddev']
/** Functions and their arguments: `range` for a range vector, `value` for any other expression. */
const FUNCTIONS: Readonly<Record<string, readonly ('range' | 'value')[]>> = {
  rate: ['range'],
  increase: ['range'],
  irate: ['range'],
  delta: ['range'],
  histogram_quantile: ['value', 'value'],
  vector: ['value'],
  clamp_min: ['value', 'value'],
  time: [],
}
const OPERATORS = ['+', '-', '*', '/', '%', '^', '==', '!=', '<=', '<', '>=', '>', 'and', 'or', 'unless']
const MATCHERS = ['=', '!=', '=~', '!~']

/** @throws {SyntaxError} for expressions that Prometheus would reject */
export function parseQuery(text: string): Query {
  const tokens = tokensOf(text)
  const selectors: Selector[] = []
  const groupings: string[] = []
  let at = 0

  expression()
  if (at < tokens.length) throw wrong('the end')
  return { selectors, groupings }

  /** @returns whether it is a range vector */
  function expression(): boolean {
    const isRange = operand()
    if (!OPERATORS.includes(tokens[at] ?? '')) return isRange
    while (OPERATORS.includes(tokens[at] ?? '')) {
      at++
      if (operand() || isRange) throw new SyntaxError(`${text}: an operator takes no range`)
    }
    return false
  }

  function operand(): boolean {
    const token = tokens[at++]
    if (token === '-' || token === '+') return operand()
    if (token === '(') {
      const isRange = expression()
      take(')')
      return isRange
    }
    if (token !== undefined && /^\d/.test(token)) return false
    if (token === undefined || !/^[A-Za-z_:]/.test(token)) throw wrong('a value', -1)
    if (AGGREGATIONS.includes(token)) return aggregation()
    if (tokens[at] === '(') return call(token)
    return selector(token)
  }

  function aggregation(): boolean {
    grouping()
    take('(')
    while (expression() ? never() : tokens[at] === ',') at++
    take(')')
    grouping()
    return false
  }

  function never(): never {
    throw new SyntaxError(`${text}: an aggregation takes no range`)
  }

  function grouping(): void {
    if (tokens[at] !== 'by' && tokens[at] !== 'without') return
    at++
    take('(')
    groupings.push(...names())
    take(')')
  }

  function names(): string[] {
    const found: string[] = []
    while (/^[A-Za-z_]/.test(tokens[at] ?? '')) {
      found.push(tokens[at++]!)
      if (tokens[at] === ',') at++
    }
    return found
  }

  function call(name: string): boolean {
    const wanted = FUNCTIONS[name]
    if (wanted === undefined) throw new SyntaxError(`${text}: function ${name} is unknown`)
    take('(')
    wanted.forEach((kind, index) => {
      if (index > 0) take(',')
      if (expression() !== (kind === 'range')) throw new SyntaxError(`${text}: ${name} takes a ${kind}`)
    })
    take(')')
    return false
  }

  function selector(metric: string): boolean {
    const labels: string[] = []
    if (tokens[at] === '{') {
      at++
      while (tokens[at] !== '}') {
        labels.push(tokens[at++] ?? '')
        if (!MATCHERS.includes(tokens[at++] ?? '') || !tokens[at++]?.startsWith('"')) throw wrong('a matcher', -1)
        if (tokens[at] === ',') at++
        else if (tokens[at] !== '}') throw wrong('","')
      }
      at++
    }
    const isRange = tokens[at]?.startsWith('[') === true
    if (isRange) at++
    selectors.push({ metric, labels, isRange })
    return isRange
  }

  function take(token: string): void {
    if (tokens[at] !== token) throw wrong(`"${token}"`)
    at++
  }

  function wrong(wanted: string, back = 0): SyntaxError {
    return new SyntaxError(`${text}: ${wanted} is expected, found ${tokens[at + back] ?? 'the end'}`)
  }
}

function tokensOf(text: string): string[] {
  const tokens: string[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const start = TOKEN.lastIndex
    const [token] = TOKEN.exec(text) ?? []
    if (token === undefined) throw new SyntaxError(`${text}: unknown token: ${text.slice(start, start + 10)}`)
    if (token.trim() !== '') tokens.push(token)
  }
  return tokens
}
