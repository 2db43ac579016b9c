import { randomBytes } from 'node:crypto';
import type { ParquetConfig } from '../../config/config-sinks.js';
import type { TailEvent } from '../store/event-tail.js';
import type { EventSink, SinkSession } from './event-sink.js';
import { createFolderFiles } from './folder-files.js';
import { type Manifest, openManifest } from './parquet-manifest.js';
import { parquetColumns } from './parquet-rows.js';
import type { FileReply, SizeReply } from './parquet-worker.js';
import { createS3Files } from './s3-files.js';
import type { SinkFiles } from './sink-files.js';
import { type SinkThread, startSinkThread } from './sink-thread.js';

const ENTRY = new URL('./parquet-worker.js', import.meta.url);

const HOUR_MS = 3_600_000;
/** Files written by this sink. */
const OWN_FILE = /^date=\d{4}-\d\d-\d\d\/hour=\d\d\/events-\d{20}-[0-9a-f]{8}\.parquet$/;

export interface ParquetSinkOptions {
  readonly config: ParquetConfig;
  /** Id of the database whose events they are. */
  readonly source: () => string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Parquet files in a folder or a bucket, by the hour in which their events were delivered. The manifest lists the files
 * that count, and its end is the position of the sink: what was not listed before a crash is read from the log again.
 */
export function createParquetSink({ config, source, now }: ParquetSinkOptions): EventSink {
  const { place } = config;
  return {
    name: 'parquet',
    async open(_stored, first, signal) {
      const files = place.kind === 's3' ? createS3Files(place) : createFolderFiles(place.path);
      signal.addEventListener('abort', () => files.close());
      try {
        const manifest = await openManifest({ files, source: source(), first });
        await removeUnlisted(files, manifest);
        const thread = startSinkThread<SizeReply | FileReply>({ entry: ENTRY, data: {}, secrets: [] });
        signal.addEventListener('abort', () => void thread.close(0));
        return createSession({ config, files, manifest, thread, now });
      } catch (error) {
        files.close();
        throw error;
      }
    },
  };
}

/** Removes files of a process that ended before it listed them. They are not older than the last listed one. */
async function removeUnlisted(files: SinkFiles, { recent }: Manifest): Promise<void> {
  const listed = new Set(recent.map(({ path }) => path));
  const lastDay = recent.at(-1)?.path.split('/')[0] ?? '';
  for (const path of await files.list('date=', lastDay)) {
    if (OWN_FILE.test(path) && !listed.has(path)) await files.remove(path);
  }
}

interface SessionParts {
  readonly config: ParquetConfig;
  readonly files: SinkFiles;
  readonly manifest: Manifest;
  readonly thread: SinkThread<SizeReply | FileReply>;
  readonly now: () => number;
}

function createSession({ config, files, manifest, thread, now }: SessionParts): SinkSession {
  /** Distinguishes its files from those of another process that begin at the same position. */
  const session = randomBytes(4).toString('hex');
  let taken = manifest.upTo;
  /** Events in the file that is being made, and when it was begun. */
  let rows = 0;
  let begunAtMs = 0;

  function isDue(): boolean {
    const nowMs = now();
    const isNextHour = Math.floor(nowMs / HOUR_MS) !== Math.floor(begunAtMs / HOUR_MS);
    return rows > 0 && (isNextHour || nowMs - begunAtMs >= config.intervalMs);
  }

  async function add(events: readonly TailEvent[]): Promise<number> {
    if (rows === 0) begunAtMs = now();
    const octets = events.reduce((sum, event) => sum + event.octets, 0);
    const reply = await thread.request({ rows: { columns: parquetColumns(events), octets } });
    rows += events.length;
    return 'size' in reply ? reply.size : 0;
  }

  async function writeFile(): Promise<void> {
    const reply = await thread.request({ finish: true });
    if (!('file' in reply)) throw new Error('the thread made no file');
    const { file, sha256 } = reply;
    const { upTo: after, restorations } = manifest;
    const [date, hour] = new Date(begunAtMs).toISOString().split(/[T:]/);
    const start = String(after + 1n).padStart(20, '0');
    const path = `date=${date}/hour=${hour}/events-${start}-${session}.parquet`;
    await files.write(path, file, sha256);
    await manifest.append({ path, after, upTo: taken, rows, bytes: file.byteLength, sha256, restorations });
    rows = 0;
  }

  return {
    start: taken,
    get durable() {
      return rows === 0 ? taken : manifest.upTo;
    },
    async take(events, upTo) {
      if (isDue()) await writeFile();
      const size = events.length === 0 ? 0 : await add(events);
      taken = upTo;
      if (rows >= config.maxRows || size >= config.maxBytes) await writeFile();
    },
    async rest() {
      if (isDue()) await writeFile();
    },
    async rewind(position) {
      if (rows > 0) await writeFile();
      await manifest.rewind(position);
      taken = position;
    },
    async finish() {
      if (rows > 0) await writeFile();
    },
    async close() {
      files.close();
      await thread.close(0);
    },
  };
}
