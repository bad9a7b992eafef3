import { Option } from 'commander'
import { FORMATS } from './formats.ts'

/** Creates the option for the input format, for inputs whose name and beginning do not show it. */
export function formatOption(): Option {
  return new Option('--format <name>', 'format of the input (default: detected from its name and beginning)').choices(
    FORMATS,
  )
}
