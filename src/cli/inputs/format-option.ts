import { Option } from 'commander'
import { FORMATS } from './formats.ts'

/** What is read, where its name and its beginning do not say it. */
export function formatOption(): Option {
  return new Option('--format <name>', 'of what is read, when neither name nor beginning tells').choices(FORMATS)
}
