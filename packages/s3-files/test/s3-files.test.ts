import { randomBytes } from 'node:crypto';
import dns from 'node:dns';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type S3Server, startS3Server } from '../../../test/support/s3-server.js';
import { FileChangedError, type VersionedFiles } from '../../versioned-files/src/index.js';
import { bytes, describeVersionedFiles, sha256 } from '../../versioned-files/test/versioned-files.js';
import { createS3Files, type S3Options } from '../src/index.js';

const KEY = { accessKeyId: 'key-id', secretAccessKey: 'a/long+secret', region: 'eu-central-1' };
const BUCKET = 'audit-bucket';

let server: S3Server;
beforeAll(async () => {
  server = await startS3Server({ ...KEY, bucket: BUCKET, pageSize: 3 });
});
afterAll(() => server.stop());

function inBucket(more: Partial<S3Options> = {}): VersionedFiles {
  const prefix = `some path/${randomBytes(4).toString('hex')}/`;
  const config = { bucket: BUCKET, prefix, endpoint: server.url, pathStyle: true, sessionToken: null };
  return createS3Files({ ...config, ...KEY, ...more });
}

describeVersionedFiles('a bucket', async () => inBucket());

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
