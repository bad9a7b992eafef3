/**
 * Polynomials for one lane or two. The coefficients are in memory, lowest order first: loading one double into both
 * lanes is one instruction, whereas a constant in the code takes three.
 */
import { mul, mulAdd } from './lanes'

/** Loads the coefficient of order `order` into every lane. */
@inline
export function coefficient<T>(table: usize, order: i32): T {
  const pointer = table + ((<usize>order) << 3)
  if (isVector<T>()) return changetype<T>(v128.load_splat<f64>(pointer))
  return <T>load<f64>(pointer)
}

/** c₀ + c₁x. The functions below are polynomials of degree 2, 3 … */
@inline
export function polynomial1<T>(table: usize, x: T): T {
  return mulAdd<T>(coefficient<T>(table, 1), x, coefficient<T>(table, 0))
}

@inline
export function polynomial2<T>(table: usize, x: T): T {
  return mulAdd<T>(polynomial1<T>(table + 8, x), x, coefficient<T>(table, 0))
}

@inline
export function polynomial3<T>(table: usize, x: T): T {
  return mulAdd<T>(polynomial1<T>(table + 16, x), mul<T>(x, x), polynomial1<T>(table, x))
}

@inline
export function polynomial4<T>(table: usize, x: T): T {
  return mulAdd<T>(polynomial2<T>(table + 16, x), mul<T>(x, x), polynomial1<T>(table, x))
}

@inline
export function polynomial5<T>(table: usize, x: T): T {
  return mulAdd<T>(polynomial3<T>(table + 16, x), mul<T>(x, x), polynomial1<T>(table, x))
}
