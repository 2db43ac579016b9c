import { openParquetLog } from '../../../../packages/parquet-log/src/index.js';
import { createFolderFiles, type VersionedFiles } from '../../../../packages/versioned-files/src/index.js';
import type { ParquetConfig } from '../../../contract/config/config-sinks.js';
import type { TailEvent } from '../store/event-tail.js';
import { EVENT_COLUMNS } from './event-columns.js';
import type { EventSink } from './event-sink.js';

export interface ParquetSinkOptions {
  readonly config: ParquetConfig;
  /** Id of the database whose events they are. */
  readonly source: () => string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Parquet files in a folder or a bucket, which have the position of the sink: it is the end of their manifest. */
export function createParquetSink({ config, source, now }: ParquetSinkOptions): EventSink {
  return {
    name: 'parquet',
    open: async (_stored, first, signal) =>
      openParquetLog<TailEvent>({
        files: await filesIn(config.place),
        rows: { one: 'event', many: 'events', columns: EVENT_COLUMNS, octetsOf: ({ octets }) => octets },
        source: { kind: 'database', id: source() },
        createdBy: 'control-enforcement-service',
        first,
        limits: config,
        now,
        signal,
      }),
  };
}

async function filesIn(place: ParquetConfig['place']): Promise<VersionedFiles> {
  if (place.kind === 'folder') return createFolderFiles(place.path);
  const { createS3Files } = await import('../../../../packages/s3-files/src/index.js');
  return createS3Files(place);
}
