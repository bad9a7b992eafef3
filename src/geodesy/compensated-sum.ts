/**
 * Sum of numbers in their order, with what each addition rounds away added at the end (Neumaier): cutting a geometry into
 * many parts loses no more than the rounding of the parts themselves.
 */
export function compensatedSum(terms: Iterable<number>): number {
  let sum = 0
  let lost = 0
  for (const term of terms) {
    const next = sum + term
    lost += Math.abs(sum) >= Math.abs(term) ? sum - next + term : term - next + sum
    sum = next
  }
  return sum + lost
}
