import type { VersionedFiles } from '../../versioned-files/src/index.js';
import type { ParquetColumn } from './columns.js';

/** What is logged. */
export interface RowKind<Row> {
  /** Name of a row in the schema of the files. */
  readonly one: string;
  /** Name of rows: begins the names of files, and is part of messages. */
  readonly many: string;
  /** In the order of the file. */
  readonly columns: readonly ParquetColumn<Row>[];
  /** About the size of the values of a row, in bytes. */
  readonly octetsOf: (row: Row) => number;
}

/** Where rows come from: a place has those of one source. */
export interface LogSource {
  /** For messages, such as `database`. */
  readonly kind: string;
  readonly id: string;
}

/** When a file ends. */
export interface FileLimits {
  /** Also at the end of an hour. */
  readonly intervalMs: number;
  readonly maxRows: number;
  readonly maxBytes: number;
}

export interface ParquetLogOptions<Row> {
  /** The log closes it. */
  readonly files: VersionedFiles;
  readonly rows: RowKind<Row>;
  readonly source: LogSource;
  /** The program that is named in the files. */
  readonly createdBy: string;
  /** Position at which a place without files begins. */
  readonly first: () => Promise<bigint>;
  readonly limits: FileLimits;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** When it is aborted, everything under way fails. */
  readonly signal: AbortSignal;
}

/** Appends rows of ascending positions, each once. After a failure it is closed, and opened again. */
export interface ParquetLog<Row> {
  /** Every row up to this position was taken before. */
  readonly start: bigint;
  /** Every row up to this position is in a listed file. */
  readonly durable: bigint;
  /** Takes the rows after those taken before; there is none besides them up to `upTo`. */
  take(rows: readonly Row[], upTo: bigint): Promise<void>;
  /** Writes the file that is being made if its time is over. To be called again and again while there are no rows. */
  rest(): Promise<void>;
  /** The source was restored to an earlier state, which ends at this position: the next rows follow it. */
  rewind(position: bigint): Promise<void>;
  /** Writes what was taken. */
  finish(): Promise<void>;
  /** Releases resources. Never rejects. */
  close(): Promise<void>;
}
