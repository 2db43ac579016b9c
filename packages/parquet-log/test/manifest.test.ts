import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listedFiles } from '../../../test/observe/events/sinks/parquet-files.js';
import { startS3Server } from '../../../test/support/s3-server.js';
import { createS3Files } from '../../s3-files/src/index.js';
import { createFolderFiles } from '../../versioned-files/src/index.js';
import { openManifest } from '../src/manifest.js';

const OWNER = { contents: 'rows', source: { kind: 'source', id: 'one' } };

describe('the files of a log', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'log-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('go on after a crash that came before the new part of the manifest was shown', async () => {
    const files = createFolderFiles(folder);
    const open = () => openManifest({ files, ...OWNER, first: async () => 0n, filesPerPart: 1 });
    for (let count = 1; count <= 3; count += 1) {
      await open();
      // It is a version of the file already.
      const shown = (await files.list('manifest/0', '')).at(-1) ?? '';
      await files.remove(shown);
      const manifest = await open();
      expect(await files.list('manifest/0', '')).toContain(shown);
      const file = { rows: 1, bytes: 1, sha256: 'x', restorations: 0, after: manifest.upTo };
      await manifest.append({ path: `date=${count}`, upTo: manifest.upTo + 1n, ...file });
      await manifest.append({
        path: `date=${count}`,
        ...file,
        after: manifest.upTo,
        upTo: manifest.upTo + 1n,
      });
    }
    expect((await open()).upTo).toBe(6n);
    expect(await listedFiles(files)).toHaveLength(6);
  });

  it('are listed in manifests of limited length, without a gap', async () => {
    const key = { accessKeyId: 'key-id', secretAccessKey: 'secret', region: 'us-east-1' };
    const s3 = await startS3Server({ ...key, bucket: 'audit' });
    const place = { bucket: 'audit', prefix: '1/', endpoint: s3.url, pathStyle: true, sessionToken: null };
    const files = createS3Files({ ...key, ...place });
    const open = () => openManifest({ files, ...OWNER, first: async () => 7n, filesPerPart: 3 });
    let end = 7n;
    for (let count = 0; count < 11; count += 1) {
      // Each by a process that has just started.
      const manifest = await open();
      expect(manifest.upTo).toBe(end);
      if (count === 5) {
        end -= 3n;
        await manifest.rewind(end);
      }
      const file = { rows: 1, bytes: 1, sha256: 'x', restorations: manifest.restorations };
      await manifest.append({ path: `date=${count}`, after: end, upTo: end + 5n, ...file });
      end += 5n;
    }
    const entries = await listedFiles(files);
    expect(entries.map(({ path: one }) => one)).toEqual(
      Array.from({ length: 11 }, (_, index) => `date=${index}`),
    );
    expect(await files.list('manifest/', '')).toHaveLength(4);
    expect((await open()).recent.map(({ path: one }) => one)).toEqual([
      'date=6',
      'date=7',
      'date=8',
      'date=9',
      'date=10',
    ]);
    await s3.stop();
  });
});
