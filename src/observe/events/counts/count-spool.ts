import path from 'node:path';
import type { RepeatLog } from '../../../contract/runtime/repeat-log.js';
import { Spool } from '../spool/spool.js';
import { prepareDirectory } from '../spool/spool-folder.js';
import type { CountBatch } from './count-batch.js';
import { printBatch, readBatch } from './count-text.js';

/** Octets of records that are read at once. */
const OCTETS_PER_READ = 1024 * 1024;
/** Most octets of counts on disk: days of a thousand agents that are busy. */
const MAX_OCTETS = 256 * 1024 * 1024;

/** Batches of counts in files, where they wait while the database is away. */
export interface CountSpool {
  /** Also resolves with true when the files cannot be used. */
  isEmpty(): Promise<boolean>;
  /** Resolves when the batch survives a crash. */
  keep(batch: CountBatch): Promise<void>;
  /** Hands over all batches in their order, also those that processes before have left. Rejects when `add` does. */
  replay(add: (batch: CountBatch) => Promise<void>): Promise<void>;
  readonly octets: number;
  /** Leaves the batches to the next process. Never rejects. */
  close(): Promise<void>;
}

export interface CountSpoolOptions {
  /** That of the events. */
  readonly directory: string;
  readonly maxOctets: number;
  readonly failures: Pick<RepeatLog, 'failed'>;
}

/**
 * Creates it beside the spool of the events, with the same files. A batch may be handed over again after a crash: its
 * writer and number tell whether it is added already. Throws when the directory cannot be created.
 */
export function createCountSpool({ directory, maxOctets, failures }: CountSpoolOptions): CountSpool {
  const folder = path.join(directory, 'counts');
  prepareDirectory(folder);
  let spool: Spool | undefined;
  const opening = Spool.open({ directory: folder, maxOctets: Math.min(maxOctets, MAX_OCTETS) }).then(
    (opened) => {
      spool = opened;
      return opened;
    },
  );
  opening.catch((error: unknown) => {
    failures.failed('count spool', 'the spool for counts of evaluations cannot be used', error);
  });
  return {
    isEmpty: () =>
      opening.then(
        (opened) => opened.isEmpty,
        () => true,
      ),
    async keep(batch) {
      await (await opening).append(Buffer.from(printBatch(batch)));
    },
    async replay(add) {
      const opened = await opening;
      while (!opened.isEmpty) {
        const { records, forget } = await opened.next(OCTETS_PER_READ);
        for (const record of records) await add(readBatch(record.toString('utf8')));
        await forget();
      }
    },
    get octets() {
      return spool?.octets ?? 0;
    },
    async close() {
      await opening.then((opened) => opened.close()).catch(() => {});
    },
  };
}
