/** Colours of the style sheet for WebGL, which CSS cannot style. */
export interface Palette {
  readonly sea: string
  readonly land: string
  readonly coast: string
  readonly border: string
  readonly graticule: string
  readonly road: string
  readonly building: string
  readonly green: string
  readonly first: string
  readonly second: string
  readonly ink: string
  readonly quiet: string
  readonly good: string
  readonly bad: string
  readonly raised: string
}

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement)
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim()
  return {
    sea: color('sea'),
    land: color('land'),
    coast: color('coast'),
    border: color('border'),
    graticule: color('graticule'),
    road: color('road'),
    building: color('building'),
    green: color('green'),
    first: color('accent'),
    second: color('second'),
    ink: color('ink'),
    quiet: color('ink-3'),
    good: color('good'),
    bad: color('bad'),
    raised: color('raised'),
  }
}

/** Calls the listener when the system or the user changes the theme. */
export function onThemeChange(listener: () => void): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', listener)
  document.addEventListener('themechange', listener)
}
