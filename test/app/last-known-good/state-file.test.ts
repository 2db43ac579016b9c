import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../../src/app/last-known-good/file-system.js';
import { StateFile } from '../../../src/app/last-known-good/state-file.js';
import { Died, Disk } from './disk.js';
import {
  anyState,
  controlIdsOf,
  headerOf,
  key,
  type SampleState,
  sample,
  stateOf,
  target,
  writing,
} from './support.js';

const PATH = '/data/state';

/** Long for a lock in memory. */
const LOCK_LIMIT_MS = 50;

async function saved(disk: Disk, state: SampleState) {
  return new StateFile(PATH, disk, LOCK_LIMIT_MS).save(writing(state));
}

/** The state that a process finds, as far as a test can tell states apart. */
async function found(disk: Disk) {
  const read = await new StateFile(PATH, disk).read();
  return read.kind === 'usable' ? read.value.header.revision : read;
}

describe('a state that was saved', () => {
  it('is read as it was, whatever its texts are', async () => {
    await fc.assert(
      fc.asyncProperty(anyState, async (state) => {
        const disk = new Disk();
        await saved(disk, state);
        const file = new StateFile(PATH, disk);
        expect(await file.check()).toEqual({ kind: 'usable', value: headerOf(state) });
        expect(await file.header()).toEqual(headerOf(state));
        const read = await file.read();
        if (read.kind !== 'usable') throw new Error(JSON.stringify(read));
        for (const { name } of [...state.agents, { name: 'no-such-agent' }]) {
          const { revision, controls } = stateOf(read.value, name);
          expect(revision).toBe(state.revision);
          expect(controls?.map(({ id }) => id) ?? null).toEqual(controlIdsOf(state, name));
          for (const { id, ...rest } of controls ?? []) expect(state.controls[id - 1]).toMatchObject(rest);
          for (const of of ['no-such-target', ...state.controls.flatMap(({ targets = [] }) => targets)]) {
            const ids = stateOf(read.value, name, of).controls?.map(({ id }) => id) ?? null;
            expect(ids).toEqual(controlIdsOf(state, name, of));
          }
        }
      }),
    );
  });

  it('of a version that knew no bindings has none of the agents that work on a target', async () => {
    const disk = new Disk();
    await new StateFile(PATH, disk, LOCK_LIMIT_MS).save((writer) =>
      writing(sample(7))({
        header: (header) => writer.header({ ...header, bindings: undefined }),
        lines: (text) => writer.lines(text),
      }),
    );
    expect((await disk.read(PATH)).toString()).not.toContain('bindings');
    const read = await new StateFile(PATH, disk).read();
    if (read.kind !== 'usable') throw new Error(JSON.stringify(read));
    expect(stateOf(read.value, 'some-agent-1').controls).toHaveLength(1);
    expect(read.value.linksOf(key('some-agent-1'), target('some-target'))).toBeNull();
  });

  it('leaves nothing but itself', async () => {
    const disk = new Disk();
    for (const revision of [1, 2, 3]) await saved(disk, sample(revision));
    expect(disk.paths).toEqual([PATH]);
  });

  it('is not used when any byte of it is another one, or when it is cut off anywhere', async () => {
    const disk = new Disk();
    await saved(disk, sample(7));
    const bytes = await disk.read(PATH);
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: bytes.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, flip) => {
          const damaged = Buffer.from(bytes);
          damaged[at] = (damaged[at] ?? 0) ^ flip;
          for (const content of [damaged, bytes.subarray(0, at)]) {
            const other = new Disk();
            const file = await other.create(PATH);
            await file.write(content);
            expect(await found(other)).toMatchObject({
              kind: 'damaged',
              problem: expect.stringMatching(/./),
            });
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('does not go back to an earlier revision of the same database', async () => {
    const disk = new Disk();
    await saved(disk, sample(5));
    expect(await saved(disk, sample(4))).toMatchObject({ kind: 'kept', found: { revision: 5 } });
    expect(await found(disk)).toBe(5);
    expect(await saved(disk, sample(5, { timeMs: 0 }))).toMatchObject({ kind: 'saved' });
    expect(await saved(disk, sample(3, { instanceId: 'another-one' }))).toMatchObject({ kind: 'saved' });
    expect(await found(disk)).toBe(3);
  });

  it('takes the place of a later one that is damaged', async () => {
    const disk = new Disk();
    await saved(disk, sample(5));
    const bytes = await disk.read(PATH);
    await disk.remove(PATH);
    await (await disk.create(PATH)).write(bytes.subarray(0, -10));
    expect(await saved(disk, sample(4))).toMatchObject({ kind: 'saved' });
    expect(await found(disk)).toBe(4);
  });

  it('is the latest one when many save at once, in whatever order their steps come', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 1, max: 100 }), { minLength: 2, maxLength: 6 }),
        fc.scheduler(),
        async (revisions, scheduler) => {
          const disk = new Disk();
          // Each step of each writer waits for its turn.
          const inTurns = new Proxy(disk, {
            get(target, name) {
              const member: unknown = Reflect.get(target, name, target);
              if (typeof member !== 'function' || name === 'afterDeath') return member;
              return (...words: unknown[]) =>
                scheduler.schedule(Promise.resolve(), String(name)).then(() => member.apply(target, words));
            },
          });
          const saves = revisions.map((revision) =>
            new StateFile(PATH, inTurns).save(writing(sample(revision))),
          );
          const all = Promise.all(saves);
          await scheduler.waitFor(all);
          expect(await found(disk)).toBe(Math.max(...revisions));
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('a process that dies while it saves', () => {
  async function stepsOfSave(): Promise<number> {
    const disk = new Disk();
    await saved(disk, sample(1));
    const before = disk.steps;
    await saved(disk, sample(2));
    return disk.steps - before;
  }

  /** A disk with revision 1 on which a process died at a step of saving revision 2. */
  async function diedAt(step: number): Promise<{ disk: Disk; finished: boolean }> {
    const disk = new Disk();
    await saved(disk, sample(1));
    disk.diesAt = disk.steps + step;
    const outcome = await saved(disk, sample(2)).then(
      () => 'finished',
      (error: unknown) => error,
    );
    if (outcome !== 'finished' && !(outcome instanceof Died)) throw outcome;
    return { disk, finished: outcome === 'finished' };
  }

  it('leaves the old state or the new one, at every step, and the next one can save', async () => {
    const steps = await stepsOfSave();
    expect(steps).toBeGreaterThan(15);
    const states = new Set<unknown>();
    for (let step = 0; step <= steps; step += 1) {
      const { disk } = await diedAt(step);
      const left = disk.afterDeath();
      const state = await found(left);
      expect([1, 2]).toContain(state);
      states.add(state);
      // Some time later.
      left.age();
      expect(await saved(left, sample(3))).toMatchObject({ kind: 'saved' });
      expect(await found(left)).toBe(3);
      expect(left.paths).toEqual([PATH]);
    }
    expect([...states]).toEqual([1, 2]);
  });

  it('leaves the old state or the new one also when the power fails', async () => {
    const steps = await stepsOfSave();
    const failure = fc.record({
      step: fc.nat({ max: steps }),
      nameChanges: fc.nat({ max: 6 }),
      bytes: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    await fc.assert(
      fc.asyncProperty(failure, async ({ step, ...power }) => {
        const { disk, finished } = await diedAt(step);
        const state = await found(disk.afterDeath(power));
        // What was reported as saved stays saved.
        expect(finished ? [2] : [1, 2]).toContain(state);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the file on a real disk', () => {
  async function inFolder(test: (path: string, folder: string) => Promise<void>): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'state-'));
    try {
      await test(join(folder, 'state'), folder);
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  it('is for its owner only, alone in its folder, and in a folder that is created', () =>
    inFolder(async (_path, folder) => {
      const path = join(folder, 'new', 'state');
      const file = new StateFile(path, nodeFileSystem);
      for (const revision of [1, 2]) await file.save(writing(sample(revision)));
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect(await readdir(join(folder, 'new'))).toEqual(['state']);
      expect(await file.check()).toMatchObject({ kind: 'usable', value: { revision: 2 } });
      const lines = (await readFile(path, 'utf8')).split('\n');
      expect(lines.map((line) => line.slice(0, 10))).toEqual([
        '{"format":',
        '["control"',
        '["policy",',
        '["agent","',
        '{"sha256":',
        '',
      ]);
    }));

  it('is reported with what is wrong with it', () =>
    inFolder(async (path) => {
      const file = new StateFile(path, nodeFileSystem);
      const problem = async () => {
        const read = await file.read();
        return read.kind === 'damaged' ? read.problem : read.kind;
      };
      expect(await problem()).toBe('absent');
      await writeFile(path, '');
      expect(await problem()).toBe('it is empty');
      await writeFile(path, 'SQLite format 3\0');
      expect(await problem()).toBe('the first line is not JSON');
      await writeFile(path, '{"some":"JSON"}\n');
      expect(await problem()).toBe('it is not a last-known-good file');
      await rm(path);
      await file.save(writing(sample(1)));
      const text = await readFile(path, 'utf8');
      await writeFile(path, text.replace('"version":1', '"version":2'));
      expect(await problem()).toBe('it has format version 2, this is 1');
      await writeFile(path, text.replace('control-1', 'control-2'));
      expect(await problem()).toBe('its checksum is wrong');
      await writeFile(path, text);
      await truncate(path, text.length - 80);
      expect(await problem()).toBe('it is not complete');
      await rm(path);
      const { mkdir } = await import('node:fs/promises');
      await mkdir(path);
      expect(await problem()).toBe('it is no ordinary file');
      for (const device of ['/dev/zero', '/dev/stdin']) {
        const other = new StateFile(device, nodeFileSystem);
        expect(await other.check()).toMatchObject({ kind: 'damaged' });
        expect(await other.header()).toBeNull();
      }
    }));

  it('rejects with the reason when it cannot be written, also where folders cannot be created', async () => {
    for (const path of ['/proc/nowhere/state', '/proc/nowhere/deep/state', '/dev/null/state']) {
      await expect(new StateFile(path, nodeFileSystem).save(writing(sample(1)))).rejects.toThrow(/E[A-Z]+/);
    }
  });
});
