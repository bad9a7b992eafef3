import type { CredibilityVector, StampResult } from '../types/generated.ts'

/**
 * A credibility vector in the shape of the older generation (decision 74).
 *
 * `confidence` is the mean of how much each stamp supports the claim: its overlap in time if it is valid in every way and
 * within the radius, else 0. It is no probability and nobody calibrated it.
 */
export function olderCredibility({ dimensions, stampResults, extensions }: CredibilityVector) {
  const { spatial, temporal, validity, independence } = dimensions
  const { pluginNames, ...independenceNumbers } = independence
  const results = stampResults.map((result) => {
    const claimSupportScore = supportOf(result)
    return { ...result, supportsClaim: claimSupportScore > 0, claimSupportScore }
  })
  const scores = results.map(({ claimSupportScore }) => claimSupportScore).sort((a, b) => a - b)
  return {
    confidence: Math.min(1, scores.reduce((sum, score) => sum + score, 0) / scores.length),
    stampResults: results,
    correlation: {
      independence: independence.uniquePluginRatio,
      agreement: independence.spatialAgreement,
      notes: [
        'confidence is not a calibrated probability',
        ...noted(extensions.duplicateStamps, 'stamps are copies of another'),
        ...noted(extensions.mockStamps, 'stamps are made up (mock)'),
        `plugins: ${pluginNames.join(', ')}`,
      ],
    },
    dimensions: { ...spatial, ...temporal, ...validity, ...independenceNumbers },
  }
}

function supportOf(result: StampResult): number {
  const isValid = result.signaturesValid && result.structureValid && result.signalsConsistent
  return isValid && result.withinRadius ? result.temporalOverlap : 0
}

function noted(count: number, what: string): string[] {
  return count === 0 ? [] : [`${count} ${what}`]
}
