import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  LANDED_FILE,
  PARTS,
  TRIGGERS,
  triggeredFiles,
  triggeredParts,
  triggersOf,
} from '../scripts/system-lane.mjs';

const ROOT = path.resolve(import.meta.dirname, '..');
const FILES = ['test', 'packages/detectors/test'].flatMap((folder) =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.system.test.ts'))
    .map((name) => path.posix.join(folder, name.replaceAll(path.sep, '/'))),
);

/** What starts or needs a process of the service, a browser, or another program that a machine may not have. */
const OUTSIDE =
  /\b(?:spawnService|spawnCommand|startCommand|runShell|sharedBrowser|startRedis|startPostgresServer)\(/;

const foldersIn = (folder: string) =>
  readdirSync(path.join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${folder}/${name}/`);

const triggered = (...changed: string[]) => triggeredFiles(ROOT, FILES, changed);

describe('the system lane', () => {
  it('has a row of the table for every file, and a file for every row', () => {
    expect(FILES.filter((file) => triggersOf(file) === undefined)).toEqual([]);
    const rows = Object.keys(TRIGGERS).filter(
      (row) => !FILES.some((file) => triggersOf(file) === TRIGGERS[row]),
    );
    expect(rows).toEqual([]);
  });

  it('runs something besides what every change of src runs after a change of any room of src and any package', () => {
    const starts = Object.values(TRIGGERS)
      .filter((row) => !row.includes('src/'))
      .flat();
    const rooms = foldersIn('src').flatMap((district) => foldersIn(district.slice(0, -1)));
    const idle = [...rooms, ...foldersIn('packages')].filter(
      (folder) => !starts.some((start) => start.startsWith(folder) || folder.startsWith(start)),
    );
    expect(idle).toEqual([]);
  });

  it('names only paths that exist', () => {
    const tracked = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n');
    const missing = [...Object.values(TRIGGERS), ...Object.values(PARTS)]
      .flat()
      .filter((start) => !tracked.some((file) => file.startsWith(start)));
    expect(missing).toEqual([]);
  });

  it('runs a file after a change of it, of a module that it imports, or of its row, and no other one', () => {
    const own = 'test/app/process/signals.system.test.ts';
    expect(triggered(own)).toEqual([own]);
    expect(triggered('test/observe/events/crash-runs.ts')).toEqual([
      'test/observe/events/events-crash.system.test.ts',
    ]);
    expect(triggered('src/app/process/signals.ts')).toContain(own);
    expect(triggered('src/observe/shadows/shadow-store.ts')).not.toContain(own);
    expect(triggered('README.md')).toEqual([]);
  });

  it.each(['package.json', 'package-lock.json', '.ci/run', 'test/support/until.ts', 'vitest.config.ts'])(
    'runs everything after a change of %s',
    (file) => {
      expect(triggered(file)).toEqual(FILES);
    },
  );

  it('runs the parts that take long for what each is about', () => {
    expect(triggeredParts(['package.json'])).toEqual(['benchmarks', 'clickhouse']);
    expect(triggeredParts(['prisma/schema.prisma'])).toEqual(['postgresql']);
    expect(triggeredParts(['test/support/until.ts'])).toEqual([]);
  });

  it('runs nothing because the landed revision has a new name', () => {
    expect(triggered(LANDED_FILE)).toEqual([]);
    expect(triggeredParts([LANDED_FILE])).toEqual([]);
  });

  it('has every file that starts a service in a process, a browser or a server', () => {
    const others = readdirSync(path.join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.test.ts') && !name.endsWith('.system.test.ts'),
    );
    const outside = others.filter((name) =>
      OUTSIDE.test(readFileSync(path.join(ROOT, 'test', name), 'utf8')),
    );
    expect(outside).toEqual([]);
  });
});
