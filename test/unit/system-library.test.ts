import { describe, expect, it } from 'vitest'
import { type LibraryFiles, systemLibraries } from '../../src/crypto/system-library.ts'

const FOLDER = '/usr/lib/x86_64-linux-gnu'

/** A file system in which everything belongs to root and only root may write, but for what a test says. */
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
  it('is looked for in the folders of the distribution, the newest release first', () => {
    const names = [1, 2, 5, 6].map((soname) => `${FOLDER}/libsecp256k1.so.${soname}`)
    const present = Object.fromEntries(names.map((name) => [name, `${name}.0.0`]))
    const { found, refused } = systemLibraries('linux', 'x64', files(present))
    expect(found.map(({ path }) => path)).toEqual(names.map((name) => `${name}.0.0`).reverse())
    expect(found.map(({ release }) => release)).toEqual(['0.7', '0.6', '0.3 to 0.5', '0.2'])
    expect(refused).toEqual([])
  })

  it.each([
    ['arm64', '/usr/lib/aarch64-linux-gnu'],
    ['x64', '/usr/lib64'],
    ['x64', '/usr/lib'],
  ])('is found on %s in %s', (arch, folder) => {
    const name = `${folder}/libsecp256k1.so.1`
    expect(systemLibraries('linux', arch, files({ [name]: name })).found).toMatchObject([{ path: name }])
  })

  it.each([
    ['a release whose interface is not known', 'linux', 'libsecp256k1.so.7'],
    ['a name without a release', 'linux', 'libsecp256k1.so'],
    ['another system', 'darwin', 'libsecp256k1.so.1'],
  ])('is not %s', (_name, platform, file) => {
    const path = `${FOLDER}/${file}`
    const { found } = systemLibraries(platform, 'x64', files({ [path]: path }))
    expect(found).toEqual([])
  })

  it.each([
    ['the file belongs to another user', `${FOLDER}/libsecp256k1.so.1.0.0`, { uid: 1000 }, 'does not belong to root'],
    [
      'its group may write the file',
      `${FOLDER}/libsecp256k1.so.1.0.0`,
      { mode: 0o775 },
      'others than root may write it',
    ],
    [
      'everybody may write the file',
      `${FOLDER}/libsecp256k1.so.1.0.0`,
      { mode: 0o757 },
      'others than root may write it',
    ],
    ['the folder belongs to another user', FOLDER, { uid: 1000 }, 'does not belong to root'],
    ['everybody may write a folder above', '/usr', { mode: 0o1777 }, 'others than root may write it'],
  ])('is refused with the reason when %s', (_name, path, other, reason) => {
    const name = `${FOLDER}/libsecp256k1.so.1`
    const { found, refused } = systemLibraries('linux', 'x64', files({ [name]: `${name}.0.0` }, { [path]: other }))
    expect(found).toEqual([])
    expect(refused).toEqual([`${path}: ${reason}`])
  })

  it('is judged where its link leads to', () => {
    const name = `${FOLDER}/libsecp256k1.so.1`
    const others = { '/home/user': { uid: 1000 } }
    const { refused } = systemLibraries('linux', 'x64', files({ [name]: '/home/user/evil.so' }, others))
    expect(refused).toEqual(['/home/user: does not belong to root'])
  })
})
