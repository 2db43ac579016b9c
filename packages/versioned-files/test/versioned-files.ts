import { createHash, randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { FileChangedError, isFileChanged, type VersionedFiles } from '../src/index.js';

export const bytes = (text: string) => Buffer.from(text);
export const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');

/** What files do wherever they are. `create` makes some in a place of their own. */
export function describeVersionedFiles(place: string, create: () => Promise<VersionedFiles>): void {
  describe(`files in ${place}`, () => {
    const opened: VersionedFiles[] = [];
    afterEach(() => {
      for (const files of opened.splice(0)) files.close();
    });

    async function newFiles(): Promise<VersionedFiles> {
      const files = await create();
      opened.push(files);
      return files;
    }
    const textOf = async (files: VersionedFiles, name: string) =>
      Buffer.from((await files.read(name))?.bytes ?? []).toString();

    it('are read as they were written', async () => {
      const files = await newFiles();
      const content = randomBytes(1_500_000);
      await files.write('date=2026-01-02/hour=03/one.parquet', content, sha256(content));
      const found = await files.read('date=2026-01-02/hour=03/one.parquet');
      expect(Buffer.compare(Buffer.from(found?.bytes ?? []), content)).toBe(0);
      expect(await files.read('date=2026-01-02/hour=03/two.parquet')).toBeNull();
    });

    it('are listed in order, from a path on', async () => {
      const files = await newFiles();
      expect(await files.list('date=', '')).toEqual([]);
      const days = ['date=2026-01-01', 'date=2026-01-02', 'date=2026-01-09', 'date=2026-01-10'];
      const paths = days.flatMap((day) => [`${day}/hour=00/a.parquet`, `${day}/hour=23/b.parquet`]);
      for (const one of [...paths, 'manifest/1.json']) await files.write(one, bytes('x'), sha256(bytes('x')));
      expect(await files.list('date=', '')).toEqual(paths);
      expect(await files.list('date=', 'date=2026-01-09')).toEqual(paths.slice(4));
      expect(await files.list('manifest/', '')).toEqual(['manifest/1.json']);
      await files.remove(paths[0] ?? '');
      await files.remove('date=none');
      expect(await files.list('date=', '')).toEqual(paths.slice(1));
    });

    it('are replaced only by who has read their last version', async () => {
      const files = await newFiles();
      const first = await files.replace('manifest/1.json', bytes('one'), null);
      await expect(files.replace('manifest/1.json', bytes('other'), null)).rejects.toThrow(FileChangedError);
      const second = await files.replace('manifest/1.json', bytes('two'), first);
      const late = await files.replace('manifest/1.json', bytes('other'), first).catch((error) => error);
      expect([
        late instanceof FileChangedError,
        isFileChanged(late),
        isFileChanged(new Error('other')),
      ]).toEqual([true, true, false]);
      expect(await files.read('manifest/1.json')).toMatchObject({ version: second });
      expect(await textOf(files, 'manifest/1.json')).toBe('two');
    });

    it('are replaced by one of several at the same time', async () => {
      const files = await newFiles();
      let version = await files.replace('m.json', bytes('0'), null);
      for (let round = 1; round <= 10; round += 1) {
        const results = await Promise.allSettled(
          Array.from({ length: 4 }, (_, index) =>
            files.replace('m.json', bytes(`${round}.${index}`), version),
          ),
        );
        const won = results.flatMap((one, index) => (one.status === 'fulfilled' ? [{ index, ...one }] : []));
        expect(won).toHaveLength(1);
        expect(await textOf(files, 'm.json')).toBe(`${round}.${won[0]?.index}`);
        version = won[0]?.value ?? '';
      }
    });
  });
}
