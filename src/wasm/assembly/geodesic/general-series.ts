/**
 * The series of Karney, Algorithms for geodesics, J. Geodesy 87 (2013), on WGS 84, truncated to what general edges
 * need: the omitted terms stay below 0.1 nm of a length and 10⁻⁴ m² of the area under the longest line. series.ts has
 * the full series.
 *
 * The products in general-longitude.ts already contain the factor ε^k. So the table of a coefficient begins with the
 * order k; its entries multiply further powers of ε or, where only every second power occurs, of ε².
 */
import {
  C400, C401, C402, C403, C404, C411, C412, C413, C414, C422, C423, C424, C433, C434, C444, ep2, n,
} from './series'

/** ε / k² by powers of k² = e'² cos²α0. */
export const EXPANSION = memory.data<f64>([
  1 / 4.0, -1 / 8.0, 5 / 64.0, -7 / 128.0, 21 / 512.0, -33 / 1024.0,
])

/** (A1 − 1) / ε (equation 17, expanded). */
export const A1 = memory.data<f64>([1, 5 / 4.0, 5 / 4.0, 81 / 64.0, 81 / 64.0])

/** C1 (equation 18), by powers of ε². */
export const C11 = memory.data<f64>([-1 / 2.0, 3 / 16.0, -1 / 32.0])
export const C12 = memory.data<f64>([-1 / 16.0, 1 / 32.0])
export const C13 = memory.data<f64>([-1 / 48.0, 3 / 256.0])
export const C14: f64 = -5 / 512.0
export const C15: f64 = -7 / 1280.0

/** A3 (equation 24). */
export const A3 = memory.data<f64>([
  1, (n - 1) / 2, (n * (3 * n - 1) - 2) / 8, (n * (-n - 3) - 1) / 16, (-2 * n - 3) / 64, -3 / 128.0,
])

/** C3 (equation 25). */
export const C31 = memory.data<f64>([(1 - n) / 4, (1 - n * n) / 8, (n * (3 - n) + 3) / 64, (2 * n + 5) / 128])
export const C32 = memory.data<f64>([(n * (n - 3) + 2) / 32, (n * (-3 * n - 2) + 3) / 64, (n + 3) / 128])
export const C33 = memory.data<f64>([(n * (5 * n - 9) + 5) / 192, (9 - 10 * n) / 384])
export const C34: f64 = (7 - 14 * n) / 512

/** C4 (equation 63), to the fourth order. */
export const C40 = memory.data<f64>([C400, C401, C402, C403, C404])
export const C41 = memory.data<f64>([C411, C412, C413, C414])
export const C42 = memory.data<f64>([C422, C423, C424])
export const C43 = memory.data<f64>([C433, C434])
export const C44: f64 = C444

/** ε / cos²α0 by powers of k², to low order, for the first step. */
export const FIRST_EXPANSION = memory.data<f64>([ep2 / 4, -ep2 / 8, (5 * ep2) / 64])
