import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { Spool } from '../../../../src/observe/events/spool/spool.js';

const MIB = 1024 * 1024;
const directories: string[] = [];

function newDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'spool-'));
  directories.push(directory);
  return directory;
}

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

const open = (directory: string, more: { maxOctets?: number; segmentOctets?: number } = {}) =>
  Spool.open({ directory, maxOctets: MIB, segmentOctets: 200, ...more });

/** Reads all records, and forgets them. */
async function drain(spool: Spool): Promise<string[]> {
  const found: string[] = [];
  while (!spool.isEmpty) {
    const { records, forget } = await spool.next(100);
    found.push(...records.map(String));
    await forget();
  }
  return found;
}

const segmentsIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.spool'))
    .sort();

it('gives records back in their order, and deletes their files', async () => {
  const directory = newDirectory();
  const spool = await open(directory);
  const records = Array.from({ length: 50 }, (_, index) => `record-${index}-${'x'.repeat(index)}`);
  await Promise.all(records.map((record) => spool.append(Buffer.from(record))));
  expect(spool.isEmpty).toBe(false);
  expect(await drain(spool)).toEqual(records);
  expect(spool.octets).toBe(0);
  expect(segmentsIn(path.join(directory, '0'))).toEqual([]);
  await spool.close();
});

it('keeps exactly what was acknowledged, wherever a crash cuts what is on disk', async () => {
  const texts = fc.array(fc.string({ maxLength: 120 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(
      texts,
      fc.nat(),
      fc.nat(),
      fc.uint8Array({ maxLength: 12 }),
      async (records, ack, cut, noise) => {
        const directory = newDirectory();
        const folder = path.join(directory, '0');
        const spool = await open(directory);
        const acknowledged = ack % records.length;
        for (const record of records.slice(0, acknowledged)) await spool.append(Buffer.from(record));
        const sizes = new Map(
          segmentsIn(folder).map((name) => [name, readFileSync(path.join(folder, name)).length]),
        );
        // What comes now is on its way when the process dies.
        for (const record of records.slice(acknowledged)) await spool.append(Buffer.from(record));
        const crashed = path.join(newDirectory(), '0');
        mkdirSync(crashed);
        const names = segmentsIn(folder);
        for (const [index, name] of names.entries()) {
          const file = path.join(crashed, name);
          copyFileSync(path.join(folder, name), file);
          if (index !== names.length - 1) continue;
          const least = sizes.get(name) ?? 0;
          const size = readFileSync(file).length;
          truncateSync(file, least + (cut % (size - least + 1)));
          writeFileSync(file, noise, { flag: 'a' });
        }
        await spool.close();
        const after = await open(path.dirname(crashed));
        const found = await drain(after);
        await after.close();
        expect(found.slice(0, acknowledged)).toEqual(records.slice(0, acknowledged));
        expect(records.slice(0, found.length)).toEqual(found);
      },
    ),
    { numRuns: 60 },
  );
});

it('refuses what exceeds its limit, and takes more when something was read', async () => {
  const spool = await open(newDirectory(), { maxOctets: 1_000 });
  const record = Buffer.alloc(300, 'r');
  for (let count = 0; count < 3; count += 1) await spool.append(record);
  await expect(spool.append(record)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  const { forget } = await spool.next(1);
  await forget();
  await spool.append(record);
  expect(await drain(spool)).toHaveLength(3);
  await spool.close();
});

it('is used by one process at a time, and what one leaves is found by the next', async () => {
  const directory = newDirectory();
  const one = await open(directory);
  const other = await open(directory);
  await one.append(Buffer.from('one'));
  await other.append(Buffer.from('other'));
  expect(readdirSync(directory).sort()).toEqual(['0', '1']);
  await one.close();
  await other.close();
  const next = await open(directory);
  expect((await drain(next)).toSorted()).toEqual(['one', 'other']);
  await next.close();
});

it('ends a segment at a damaged record, and reads the next one', async () => {
  const directory = newDirectory();
  const spool = await open(directory, { segmentOctets: 1 });
  for (const record of ['first', 'second', 'third']) await spool.append(Buffer.from(record));
  await spool.close();
  const folder = path.join(directory, '0');
  const [, second = ''] = segmentsIn(folder);
  const content = readFileSync(path.join(folder, second));
  content[content.length - 1] = 0;
  writeFileSync(path.join(folder, second), content);
  const after = await open(directory);
  expect(after.cutOctets).toBe(content.length);
  expect(await drain(after)).toEqual(['first', 'third']);
  await after.close();
});
