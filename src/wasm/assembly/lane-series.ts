/**
 * Polynomials for one lane or two whose coefficients stand in memory, lowest order first: a load that repeats a double in
 * both lanes is one instruction, a constant of that kind in the code is three.
 */
import { mul, mulAdd } from './lanes'

/** The coefficient of order `order` in every lane. */
@inline
export function coefficient<T>(table: usize, order: i32): T {
  const pointer = table + ((<usize>order) << 3)
  if (isVector<T>()) return changetype<T>(v128.load_splat<f64>(pointer))
  return <T>load<f64>(pointer)
}

/** c₀ + c₁x; the functions below are the same up to x², x³ … */
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
