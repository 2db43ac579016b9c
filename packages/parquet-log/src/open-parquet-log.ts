import { type RequestThread, startRequestThread } from '../../supervised-worker/src/index.js';
import type { VersionedFiles } from '../../versioned-files/src/index.js';
import { schemaOf } from './columns.js';
import { createLogSession, filePattern } from './log-session.js';
import { type Manifest, openManifest } from './manifest.js';
import type { ParquetLog, ParquetLogOptions } from './parquet-log.js';
import type { FileReply, Settings, SizeReply } from './parquet-worker.js';

const ENTRY = new URL('./parquet-worker.js', import.meta.url);

/**
 * Opens a log of Parquet files, by the hour in which their rows were taken. The manifest lists the files that count, and
 * its end is the position of the log: what was not listed before a crash has to be taken again.
 */
export async function openParquetLog<Row>(options: ParquetLogOptions<Row>): Promise<ParquetLog<Row>> {
  const { files, rows, source, createdBy, first, limits, now, signal } = options;
  signal.addEventListener('abort', () => files.close());
  try {
    const manifest = await openManifest({ files, contents: rows.many, source, first });
    await removeUnlisted(files, manifest, filePattern(rows.many));
    const data: Settings = { schema: schemaOf(rows.one, rows.columns), createdBy };
    const thread: RequestThread<SizeReply | FileReply> = startRequestThread({
      entry: ENTRY,
      data,
      secrets: [],
    });
    signal.addEventListener('abort', () => void thread.close(0));
    return createLogSession({ files, rows, manifest, thread, limits, now });
  } catch (error) {
    files.close();
    throw error;
  }
}

/** Removes files of a process that ended before it listed them. They are not older than the last listed one. */
async function removeUnlisted(files: VersionedFiles, { recent }: Manifest, own: RegExp): Promise<void> {
  const listed = new Set(recent.map(({ path }) => path));
  const lastDay = recent.at(-1)?.path.split('/')[0] ?? '';
  for (const path of await files.list('date=', lastDay)) {
    if (own.test(path) && !listed.has(path)) await files.remove(path);
  }
}
