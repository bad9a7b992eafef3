/**
 * Adds numbers in their order and corrects the sum by what each addition rounded away (Neumaier). Cutting a geometry into many
 * parts then loses no more than the rounding of the parts themselves.
 */
export function compensatedSum(terms: Iterable<number>): number {
  let sum = 0
  let compensation = 0
  for (const term of terms) {
    const next = sum + term
    compensation += Math.abs(sum) >= Math.abs(term) ? sum - next + term : term - next + sum
    sum = next
  }
  return sum + compensation
}
