import { createHash, randomBytes } from 'node:crypto';
import dns from 'node:dns';
import { link, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createS3Files, type S3Options } from '../../../packages/s3-files/src/index.js';
import {
  createFolderFiles,
  FileChangedError,
  type VersionedFiles,
} from '../../../packages/versioned-files/src/index.js';
import { type S3Server, startS3Server } from '../../support/s3-server.js';

const KEY = { accessKeyId: 'key-id', secretAccessKey: 'a/long+secret', region: 'eu-central-1' };
const BUCKET = 'audit-bucket';

let server: S3Server;
const folders: string[] = [];
const opened: VersionedFiles[] = [];
beforeAll(async () => {
  server = await startS3Server({ ...KEY, bucket: BUCKET, pageSize: 3 });
});
afterEach(async () => {
  for (const files of opened.splice(0)) files.close();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});
afterAll(() => server.stop());

const bytes = (text: string) => Buffer.from(text);
const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sink-files-'));
  folders.push(folder);
  return path.join(folder, 'below', 'it');
}
function inBucket(more: Partial<S3Options> = {}): VersionedFiles {
  const prefix = `some path/${randomBytes(4).toString('hex')}/`;
  const config = { bucket: BUCKET, prefix, endpoint: server.url, pathStyle: true, sessionToken: null };
  return createS3Files({ ...config, ...KEY, ...more });
}

describe.each([
  ['a folder', async () => createFolderFiles(await newFolder())],
  ['a bucket', async () => inBucket()],
])('files in %s', (_name, create) => {
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
    await expect(files.replace('manifest/1.json', bytes('other'), first)).rejects.toThrow(FileChangedError);
    expect(await files.read('manifest/1.json')).toMatchObject({ version: second });
    expect(await textOf(files, 'manifest/1.json')).toBe('two');
  });

  it('are replaced by one of several at the same time', async () => {
    const files = await newFiles();
    let version = await files.replace('m.json', bytes('0'), null);
    for (let round = 1; round <= 10; round += 1) {
      const results = await Promise.allSettled(
        Array.from({ length: 4 }, (_, index) => files.replace('m.json', bytes(`${round}.${index}`), version)),
      );
      const won = results.flatMap((one, index) => (one.status === 'fulfilled' ? [{ index, ...one }] : []));
      expect(won).toHaveLength(1);
      expect(await textOf(files, 'm.json')).toBe(`${round}.${won[0]?.index}`);
      version = won[0]?.value ?? '';
    }
  });
});

describe('a folder', () => {
  it('shows the last version after a crash that prevented it', async () => {
    const folder = await newFolder();
    const files = createFolderFiles(folder);
    await files.replace('m.json', bytes('one'), null);
    // As far as a process gets that is killed before it replaces the file.
    await writeFile(path.join(folder, '.m.json.v2.draft'), 'two');
    await link(path.join(folder, '.m.json.v2.draft'), path.join(folder, '.m.json.v2'));
    expect(await readFile(path.join(folder, 'm.json'), 'utf8')).toBe('one');
    expect(await createFolderFiles(folder).read('m.json')).toEqual({ bytes: bytes('two'), version: '2' });
    await createFolderFiles(folder).repair('m.json');
    expect(await readFile(path.join(folder, 'm.json'), 'utf8')).toBe('two');
    expect((await readdir(folder)).sort()).toEqual(['.m.json.v1', '.m.json.v2', 'm.json']);
  });

  it('keeps few versions, and goes on with a copy that has none of them', async () => {
    const folder = await newFolder();
    const files = createFolderFiles(folder);
    let version: string | null = null;
    for (let count = 1; count <= 40; count += 1)
      version = await files.replace('m.json', bytes(`${count}`), version);
    expect(await readdir(folder)).toHaveLength(17);
    const copy = await newFolder();
    await createFolderFiles(copy).write('x', bytes(''), sha256(bytes('')));
    await rename(path.join(folder, 'm.json'), path.join(copy, 'm.json'));
    const copied = createFolderFiles(copy);
    const found = await copied.read('m.json');
    expect(found?.bytes.toString()).toBe('40');
    await copied.replace('m.json', bytes('41'), found?.version ?? null);
    expect((await copied.read('m.json'))?.bytes.toString()).toBe('41');
  });
});

describe('a bucket', () => {
  const reasonOf = (work: Promise<unknown>) =>
    work.then(
      () => 'no error',
      (error: Error) => error.message,
    );

  it('is named in the path or in the host', async () => {
    const port = new URL(server.url).port;
    await inBucket().write('one', bytes('1'), sha256(bytes('1')));
    expect(server.hosts.at(-1)).toBe(`127.0.0.1:${port}`);
    // Not every machine resolves names below localhost.
    const lookup = vi.spyOn(dns, 'lookup').mockImplementation(((
      _host: string,
      options: { all?: boolean },
      done: (error: null, found: unknown, family?: number) => void,
    ) => {
      if (options.all === true) done(null, [{ address: '127.0.0.1', family: 4 }]);
      else done(null, '127.0.0.1', 4);
    }) as typeof dns.lookup);
    try {
      const files = inBucket({ pathStyle: false, endpoint: `http://store.example:${port}` });
      await files.write('two', bytes('2'), sha256(bytes('2')));
      expect(server.hosts.at(-1)).toBe(`${BUCKET}.store.example:${port}`);
      expect((await files.read('two'))?.bytes.toString()).toBe('2');
    } finally {
      lookup.mockRestore();
    }
  });

  it('refuses a wrong key, which is reported without the key', async () => {
    const reason = await reasonOf(inBucket({ secretAccessKey: 'a wrong secret' }).read('one'));
    expect(reason).toMatch(/^GET one was answered with 403: .*SignatureDoesNotMatch/);
    expect(reason).not.toContain('a wrong secret');
  });

  it('that does not exist is no missing file', async () => {
    expect(await reasonOf(inBucket({ bucket: 'another-bucket' }).read('one'))).toMatch(/404.*NoSuchBucket/);
    expect(await reasonOf(inBucket({ bucket: 'another-bucket' }).list('', ''))).toMatch(/404.*NoSuchBucket/);
    const write = inBucket({ bucket: 'another-bucket' }).write('one', bytes('1'), sha256(bytes('1')));
    expect(await reasonOf(write)).toMatch(/404.*NoSuchBucket/);
  });

  it('takes temporary keys', async () => {
    const own = await startS3Server({ ...KEY, bucket: BUCKET, sessionToken: 'a-token' });
    const files = inBucket({ endpoint: own.url, sessionToken: 'a-token' });
    await files.write('one', bytes('1'), sha256(bytes('1')));
    expect(own.objects.size).toBe(1);
    await own.stop();
  });

  it('that stores a file but does not say so is found to have changed', async () => {
    const files = inBucket();
    const version = await files.replace('m.json', bytes('one'), null);
    server.loseReplies(1);
    expect(await reasonOf(files.replace('m.json', bytes('two'), version))).not.toBe('no error');
    await expect(files.replace('m.json', bytes('two'), version)).rejects.toThrow(FileChangedError);
    expect((await files.read('m.json'))?.bytes.toString()).toBe('two');
  });

  it('fails what is under way when it is closed', async () => {
    const silent = await startS3Server({ ...KEY, bucket: BUCKET });
    await silent.stop();
    const files = inBucket({ endpoint: silent.url });
    expect(await reasonOf(files.read('one'))).toContain('ECONNREFUSED');
    files.close();
    expect(await reasonOf(files.read('one'))).not.toBe('no error');
  });
});
