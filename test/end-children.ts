/** Setup file of the projects that start processes. Vitest runs it for every test file, also when several share a process. */
import { afterAll } from 'vitest'
import { endChildren } from './children.ts'

afterAll(endChildren)
