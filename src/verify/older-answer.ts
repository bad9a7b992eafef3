import type { CredibilityVector, StampResult } from '../types/generated.ts'

/**
 * Converts a credibility vector into the shape of the older generation of the API (decision 74).
 *
 * `confidence` is the mean support of the stamps. A stamp that is fully valid and within the radius supports the claim
 * by its overlap in time, any other by 0. It is not a probability and is not calibrated.
 */
export function olderCredibility({ dimensions, stampResults, extensions }: CredibilityVector) {
  const { spatial, temporal, validity, independence } = dimensions
  const { pluginNames, ...independenceNumbers } = independence
  const results = stampResults.map((result) => {
    const claimSupportScore = supportScore(result)
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
        ...countNote(extensions.duplicateStamps, 'stamps are copies of another'),
        ...countNote(extensions.mockStamps, 'stamps are made up (mock)'),
        `plugins: ${pluginNames.join(', ')}`,
      ],
    },
    dimensions: { ...spatial, ...temporal, ...validity, ...independenceNumbers },
  }
}

function supportScore(result: StampResult): number {
  const isValid = result.signaturesValid && result.structureValid && result.signalsConsistent
  return isValid && result.withinRadius ? result.temporalOverlap : 0
}

function countNote(count: number, text: string): string[] {
  return count === 0 ? [] : [`${count} ${text}`]
}
