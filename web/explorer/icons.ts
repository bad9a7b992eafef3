import { svg } from './dom.ts'

/** SVG shapes in a view box of 20 by 20. */
const PATHS = {
  point: '<circle cx="10" cy="10" r="3.5"/>',
  line: '<path d="M4 15 9 6l7 4"/><circle cx="4" cy="15" r="1.2"/><circle cx="9" cy="6" r="1.2"/><circle cx="16" cy="10" r="1.2"/>',
  polygon: '<path d="M10 3.5 16.5 8 14 16H6L3.5 8Z"/>',
  rectangle: '<rect x="3.5" y="5" width="13" height="10" rx="1"/>',
  circle: '<circle cx="10" cy="10" r="6.5"/>',
  text: '<path d="M7 4H5.5A1.5 1.5 0 0 0 4 5.5v2L2.5 10 4 12.500v2A1.500 1.500 0 0 0 5.500 16H7M13 4h1.500A1.500 1.500 0 0 1 16 5.500v2l1.500 2.500-1.500 2.500v2a1.500 1.500 0 0 1-1.500 1.500H13"/>',
  swap: '<path d="M6.500 3.500v12M6.500 15.500 3.500 12.500M6.500 15.500l3-3M13.500 16.500v-12M13.500 4.500l-3 3M13.500 4.500l3 3"/>',
  plus: '<path d="M10 4v12M4 10h12"/>',
  minus: '<path d="M4 10h12"/>',
  globe:
    '<circle cx="10" cy="10" r="7"/><path d="M3 10h14M10 3c2.500 2 3.500 4.300 3.500 7s-1 5-3.500 7c-2.500-2-3.500-4.300-3.500-7s1-5 3.500-7Z"/>',
  fit: '<path d="M3.500 7V4.500a1 1 0 0 1 1-1H7M13 3.500h2.500a1 1 0 0 1 1 1V7M16.500 13v2.500a1 1 0 0 1-1 1H13M7 16.500H4.500a1 1 0 0 1-1-1V13"/>',
  check: '<path d="m4 10.500 4 4 8-9"/>',
  cross: '<path d="m5 5 10 10M15 5 5 15"/>',
  skip: '<path d="M5 10h10"/>',
  warn: '<path d="M10 3.500 17.500 16.500h-15ZM10 8v4M10 14.200v.1"/>',
  copy: '<rect x="7" y="7" width="9.500" height="9.500" rx="1.500"/><path d="M13 7V5a1.500 1.500 0 0 0-1.500-1.500H5A1.500 1.500 0 0 0 3.500 5v6.500A1.500 1.500 0 0 0 5 13h2"/>',
  share:
    '<path d="M10 12.500V3.500M10 3.500 6.500 7M10 3.500 13.500 7M4 11v4a1.500 1.500 0 0 0 1.500 1.500h9A1.500 1.500 0 0 0 16 15v-4"/>',
  sun: '<circle cx="10" cy="10" r="3.500"/><path d="M10 2.500v1.800M10 15.700v1.800M17.500 10h-1.800M4.300 10H2.500M15.300 4.700 14 6M6 14l-1.300 1.300M15.300 15.300 14 14M6 6 4.700 4.700"/>',
  moon: '<path d="M16.500 11.800A6.800 6.800 0 0 1 8.200 3.500a6.800 6.800 0 1 0 8.300 8.300Z"/>',
  trash: '<path d="M4 6h12M8 6V4h4v2M5.500 6l.7 9.500a1 1 0 0 0 1 1h5.600a1 1 0 0 0 1-1L14.500 6"/>',
  down: '<path d="M10 3.500v9M10 12.500 6.500 9M10 12.500 13.500 9M4 16.500h12"/>',
  undo: '<path d="M7.500 4.500 4 8l3.500 3.500M4 8h7.500a4.500 4.500 0 0 1 0 9H8"/>',
  key: '<circle cx="7" cy="13" r="3.500"/><path d="m9.500 10.500 7-7M13.500 6.500l2.500 2.500"/>',
  external:
    '<path d="M11.500 3.500h5v5M16.500 3.500 9 11M14 11.500v4a1 1 0 0 1-1 1H4.500a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1h4"/>',
} as const

export type IconName = keyof typeof PATHS

export function icon(name: IconName): SVGElement {
  const element = svg(PATHS[name], 'icon')
  element.setAttribute('viewBox', '0 0 20 20')
  return element
}
