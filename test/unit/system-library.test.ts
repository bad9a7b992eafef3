import { describe, expect, it } from 'vitest'
import { findSystemLibraries, type LibraryFiles } from '../../src/crypto/secp256k1-system.ts'

const FOLDER = '/usr/lib/x86_64-linux-gnu'

/** A file system in which everything belongs to root and only root may write, apart from the given exceptions. */
function files(
  paths: Readonly<Record<string, string>>,
  others: Readonly<Record<string, { uid?: number; mode?: number }>> = {},
): LibraryFiles {
  return {
    realpath: (path) => {
      const target = paths[path]
      if (target === undefined) throw new Error('ENOENT')
      return target
    },
    stat: (path) => ({ uid: 0, mode: 0o755, ...others[path] }),
  }
}

describe('the libsecp256k1 of the system', () => {
  it('is searched for in the folders of the distribution, the newest release first', () => {
    const names = [1, 2, 5, 6].map((soname) => `${FOLDER}/libsecp256k1.so.${soname}`)
    const present = Object.fromEntries(names.map((name) => [name, `${name}.0.0`]))
    const { trusted, rejected } = findSystemLibraries('linux', 'x64', files(present))
    expect(trusted.map(({ path }) => path)).toEqual(names.map((name) => `${name}.0.0`).reverse())
    expect(trusted.map(({ release }) => release)).toEqual(['0.7', '0.6', '0.3 to 0.5', '0.2'])
    expect(rejected).toEqual([])
  })

  it.each([
    ['arm64', '/usr/lib/aarch64-linux-gnu'],
    ['x64', '/usr/lib64'],
    ['x64', '/usr/lib'],
  ])('is found on %s in %s', (arch, folder) => {
    const name = `${folder}/libsecp256k1.so.1`
    expect(findSystemLibraries('linux', arch, files({ [name]: name })).trusted).toMatchObject([{ path: name }])
  })

  it.each([
    ['a release with an unknown interface', 'linux', 'libsecp256k1.so.7'],
    ['a name without a release', 'linux', 'libsecp256k1.so'],
    ['another system', 'darwin', 'libsecp256k1.so.1'],
  ])('is not accepted: %s', (_name, platform, file) => {
    const path = `${FOLDER}/${file}`
    const { trusted } = findSystemLibraries(platform, 'x64', files({ [path]: path }))
    expect(trusted).toEqual([])
  })

  it.each([
    ['the file belongs to another user', `${FOLDER}/libsecp256k1.so.1.0.0`, { uid: 1000 }, 'does not belong to root'],
    [
      'its group may write the file',
      `${FOLDER}/libsecp256k1.so.1.0.0`,
      { mode: 0o775 },
      'accounts other than root may write to it',
    ],
    [
      'every user may write the file',
      `${FOLDER}/libsecp256k1.so.1.0.0`,
      { mode: 0o757 },
      'accounts other than root may write to it',
    ],
    ['the folder belongs to another user', FOLDER, { uid: 1000 }, 'does not belong to root'],
    ['every user may write a parent folder', '/usr', { mode: 0o1777 }, 'accounts other than root may write to it'],
  ])('is rejected with the reason when %s', (_name, path, other, reason) => {
    const name = `${FOLDER}/libsecp256k1.so.1`
    const { trusted, rejected } = findSystemLibraries(
      'linux',
      'x64',
      files({ [name]: `${name}.0.0` }, { [path]: other }),
    )
    expect(trusted).toEqual([])
    expect(rejected).toEqual([`${path}: ${reason}`])
  })

  it('is checked at the target of its link', () => {
    const name = `${FOLDER}/libsecp256k1.so.1`
    const others = { '/home/user': { uid: 1000 } }
    const { rejected } = findSystemLibraries('linux', 'x64', files({ [name]: '/home/user/evil.so' }, others))
    expect(rejected).toEqual(['/home/user: does not belong to root'])
  })
})
