import { FileChangedError, type VersionedFiles } from '../../versioned-files/src/index.js';
import { readListPage } from './list-page.js';
import { createS3Bucket, type S3Options, sha256Of } from './s3-bucket.js';

/** Files in a bucket of S3 or of a compatible store, which has to support conditional writes (If-Match, If-None-Match). */
export function createS3Files(options: S3Options): VersionedFiles {
  const { bucket: name, prefix } = options;
  const place = `s3://${name}/${prefix}`;
  const bucket = createS3Bucket(options);
  return {
    place,
    async list(start, from) {
      const found: string[] = [];
      const query = { 'list-type': '2', 'encoding-type': 'url', prefix: prefix + start };
      // The key to start after is not included, and paths from `from` on are wanted.
      const after = from === '' ? {} : { 'start-after': prefix + before(from) };
      let page = {};
      for (;;) {
        const request = { method: 'GET', path: '', query: { ...query, ...after, ...page } } as const;
        const reply = await bucket.send(request);
        if (reply.status !== 200) throw bucket.failure(request, reply);
        const { keys, nextToken } = readListPage(reply.bytes.toString());
        found.push(...keys.map((key) => key.slice(prefix.length)));
        if (nextToken === null) return found;
        page = { 'continuation-token': nextToken };
      }
    },
    async read(path) {
      const request = { method: 'GET', path } as const;
      const reply = await bucket.send(request);
      if (reply.outcome === 'missing' && !reply.bytes.includes('NoSuchBucket')) return null;
      if (reply.status !== 200) throw bucket.failure(request, reply);
      return { bytes: reply.bytes, version: reply.etag };
    },
    async write(path, bytes, sha256) {
      const request = { method: 'PUT', path, body: { bytes, sha256 } } as const;
      const reply = await bucket.send(request);
      if (reply.outcome !== 'done') throw bucket.failure(request, reply);
    },
    async replace(path, bytes, version) {
      const headers: Record<string, string> =
        version === null ? { 'if-none-match': '*' } : { 'if-match': version };
      const request = { method: 'PUT', path, headers, body: { bytes, sha256: sha256Of(bytes) } } as const;
      const reply = await bucket.send(request);
      // A file with a version that does not exist any more was changed, too.
      if (reply.outcome === 'changed' || (reply.outcome === 'missing' && version !== null))
        throw new FileChangedError(place + path);
      if (reply.outcome !== 'done') throw bucket.failure(request, reply);
      return reply.etag;
    },
    // Objects are replaced as a whole.
    repair: async () => {},
    async remove(path) {
      await bucket.send({ method: 'DELETE', path });
    },
    close: () => bucket.close(),
  };
}

/** A text just before another one in the order of characters. */
function before(text: string): string {
  const last = text.codePointAt(text.length - 1) ?? 1;
  return `${text.slice(0, -1)}${String.fromCodePoint(last - 1)}~`;
}
