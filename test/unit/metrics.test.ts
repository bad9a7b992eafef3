import { describe, expect, it } from 'vitest'
import { Metrics } from '../../src/base/metrics.ts'

describe('Metrics', () => {
  it('renders as Prometheus text', () => {
    const metrics = new Metrics()
    const counter = metrics.counter('answers_total', 'Answers')
    counter.series({ route: '/a', status: '200' }).count++
    counter.series({ route: '/a', status: '200' }).count++
    counter.series({ route: 'quo"te\\\n' }).count++
    metrics.gauge('depth', 'Depth', () => 7)
    metrics.samples('sizes', 'Sizes', 'gauge', () => [
      [{ of: 'a' }, 1],
      [{ of: 'b' }, 2],
    ])
    const histogram = metrics.histogram('seconds', 'Seconds', [0.1, 1])
    for (const value of [0.05, 0.1, 0.5, 3]) histogram.observe(value)
    expect(metrics.render().split('\n')).toEqual([
      '# HELP answers_total Answers',
      '# TYPE answers_total counter',
      'answers_total{route="/a",status="200"} 2',
      'answers_total{route="quo\\"te\\\\\\n"} 1',
      '# HELP depth Depth',
      '# TYPE depth gauge',
      'depth 7',
      '# HELP sizes Sizes',
      '# TYPE sizes gauge',
      'sizes{of="a"} 1',
      'sizes{of="b"} 2',
      '# HELP seconds Seconds',
      '# TYPE seconds histogram',
      'seconds_bucket{le="0.1"} 2',
      'seconds_bucket{le="1"} 3',
      'seconds_bucket{le="+Inf"} 4',
      'seconds_sum 3.65',
      'seconds_count 4',
      '',
    ])
  })
})
