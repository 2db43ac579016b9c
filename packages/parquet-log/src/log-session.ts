import { randomBytes } from 'node:crypto';
import type { RequestThread } from '../../supervised-worker/src/index.js';
import type { VersionedFiles } from '../../versioned-files/src/index.js';
import type { Manifest } from './manifest.js';
import type { FileLimits, ParquetLog, RowKind } from './parquet-log.js';
import type { FileReply, SizeReply } from './parquet-worker.js';

const HOUR_MS = 3_600_000;

interface SessionParts<Row> {
  readonly files: VersionedFiles;
  readonly rows: RowKind<Row>;
  readonly manifest: Manifest;
  /** Makes the files. */
  readonly thread: RequestThread<SizeReply | FileReply>;
  readonly limits: FileLimits;
  readonly now: () => number;
}

export function createLogSession<Row>(parts: SessionParts<Row>): ParquetLog<Row> {
  const { files, rows: kind, manifest, thread, limits, now } = parts;
  /** Distinguishes its files from those of another process that begin at the same position. */
  const mark = randomBytes(4).toString('hex');
  let taken = manifest.upTo;
  /** Rows in the file that is being made, and when it was begun. */
  let count = 0;
  let begunAtMs = 0;

  function isDue(): boolean {
    const nowMs = now();
    const isNextHour = Math.floor(nowMs / HOUR_MS) !== Math.floor(begunAtMs / HOUR_MS);
    return count > 0 && (isNextHour || nowMs - begunAtMs >= limits.intervalMs);
  }

  /** Resolves with the size of the file so far. */
  async function add(rows: readonly Row[]): Promise<number> {
    if (count === 0) begunAtMs = now();
    const columns = kind.columns.map(({ value }) => rows.map(value));
    const octets = rows.reduce((sum, row) => sum + kind.octetsOf(row), 0);
    const reply = await thread.request({ rows: { columns, octets } });
    count += rows.length;
    return 'size' in reply ? reply.size : 0;
  }

  async function writeFile(): Promise<void> {
    const reply = await thread.request({ finish: true });
    if (!('file' in reply)) throw new Error('the thread made no file');
    const { file, sha256 } = reply;
    const { upTo: after, restorations } = manifest;
    const path = filePath(kind.many, begunAtMs, after + 1n, mark);
    await files.write(path, file, sha256);
    const { byteLength: bytes } = file;
    await manifest.append({ path, after, upTo: taken, rows: count, bytes, sha256, restorations });
    count = 0;
  }

  return {
    start: taken,
    get durable() {
      return count === 0 ? taken : manifest.upTo;
    },
    async take(rows, upTo) {
      if (isDue()) await writeFile();
      const size = rows.length === 0 ? 0 : await add(rows);
      taken = upTo;
      if (count >= limits.maxRows || size >= limits.maxBytes) await writeFile();
    },
    async rest() {
      if (isDue()) await writeFile();
    },
    async rewind(position) {
      if (count > 0) await writeFile();
      await manifest.rewind(position);
      taken = position;
    },
    async finish() {
      if (count > 0) await writeFile();
    },
    async close() {
      files.close();
      await thread.close(0);
    },
  };
}

/** The path of a file by the hour in which it was begun. Its `mark` tells files apart that begin at the same position. */
function filePath(many: string, begunAtMs: number, first: bigint, mark: string): string {
  const [date, hour] = new Date(begunAtMs).toISOString().split(/[T:]/);
  return `date=${date}/hour=${hour}/${many}-${String(first).padStart(20, '0')}-${mark}.parquet`;
}

/** Matches such paths; marks are eight hex digits. */
export function filePattern(many: string): RegExp {
  return new RegExp(`^date=\\d{4}-\\d\\d-\\d\\d/hour=\\d\\d/${many}-\\d{20}-[0-9a-f]{8}\\.parquet$`);
}
