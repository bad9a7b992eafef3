import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const MIB = 1_048_576

/** A file system in memory that a test fills. */
export interface SmallDisk {
  readonly folder: string
  /** False where the user may not mount file systems. */
  readonly isMounted: boolean
  /** Fills the disk with a file, up to the given free space. A service may write to the same disk meanwhile. */
  fill(leaveBytes: number): void
  /** Empties that file. */
  makeRoom(): void
  remove(): void
}

/** Mounts a file system of 256 MiB. */
export function mountSmallDisk(): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-full-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256m', 'tmpfs', folder], { encoding: 'utf8' })
  const isMounted = mounted.status === 0
  if (!isMounted) console.warn(`skipped: a small file system cannot be mounted here (${mounted.stderr?.trim()})`)
  const ballast = join(folder, 'ballast')
  writeFileSync(ballast, '')
  const piece = Buffer.alloc(MIB / 4)
  return {
    folder,
    isMounted,
    fill(leaveBytes) {
      for (;;) {
        const { bavail, bsize } = statfsSync(folder)
        const roomBytes = bavail * bsize - leaveBytes
        if (roomBytes <= 0) return
        try {
          appendFileSync(ballast, piece.subarray(0, roomBytes))
        } catch (error) {
          // Something else took the last bytes.
          if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return
          throw error
        }
      }
    },
    makeRoom: () => truncateSync(ballast, 0),
    remove() {
      // Lazily, because a test that failed may still have files open.
      if (isMounted) spawnSync('umount', ['--lazy', folder])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
