/**
 * A thread that makes Parquet files, one at a time, in memory: encoding a hundred thousand rows takes a second. Plain
 * JavaScript, because a thread starts from a file and Node 20 does not read TypeScript.
 */
import { createHash } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';

/**
 * `schema` as in a file: the element of a row, and one for each column.
 * @typedef {{ schema: import('hyparquet').SchemaElement[], createdBy: string }} Settings
 * Values column by column, and about their size in bytes.
 * @typedef {{ columns: unknown[][], octets: number }} Rows
 * @typedef {{ id: number } & ({ rows: Rows } | { finish: true })} Request
 * With `rows`, the size of the file so far; with `finish`, the whole file.
 * @typedef {{ id: number, size: number }} SizeReply
 * @typedef {{ id: number, file: Uint8Array<ArrayBuffer>, sha256: string }} FileReply
 */

/** A row group is encoded when it has so many rows, or bytes of values. */
const GROUP_ROWS = 50_000;
const GROUP_OCTETS = 32 * 1024 * 1024;

const port = parentPort;
if (port === null) throw new Error('this module runs in a worker thread');

/** @type {Settings} */
const { schema, createdBy } = workerData;
const names = schema.slice(1).map(({ name }) => name);

/** Keeps what is written as one part for each row group, instead of copying all of it again and again. */
class PartWriter extends ByteWriter {
  /** @type {Uint8Array[]} */
  parts = [];

  flush() {
    this.parts.push(new Uint8Array(this.getBuffer()));
    this.index = 0;
  }

  /** @override */
  finish() {
    this.flush();
  }
}

/** @returns {unknown[][]} */
const emptyColumns = () => names.map(() => []);

function newFile() {
  const writer = new PartWriter();
  const parquet = new ParquetWriter({ writer, schema, createdBy });
  return { writer, parquet, columns: emptyColumns(), octets: 0 };
}

let file = newFile();

function encodeGroup() {
  const rows = file.columns[0]?.length ?? 0;
  if (rows === 0) return;
  const columnData = names.map((name, index) => ({ name, data: file.columns[index] ?? [] }));
  file.parquet.write({ columnData, rowGroupSize: rows });
  file.columns = emptyColumns();
  file.octets = 0;
}

/** @param {Rows} rows */
function add({ columns, octets }) {
  for (const [index, values] of columns.entries()) file.columns[index]?.push(...values);
  file.octets += octets;
  if ((file.columns[0]?.length ?? 0) >= GROUP_ROWS || file.octets >= GROUP_OCTETS) encodeGroup();
}

function finish() {
  encodeGroup();
  file.parquet.finish();
  const { parts } = file.writer;
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  file = newFile();
  return { file: whole, sha256: createHash('sha256').update(whole).digest('hex') };
}

port.on('message', (/** @type {Request | 'close'} */ request) => {
  if (request === 'close') {
    port.close();
    return;
  }
  const { id } = request;
  if ('rows' in request) {
    add(request.rows);
    // Values that are not encoded yet are counted as they are: nothing larger is kept.
    port.postMessage({ id, size: file.writer.offset + file.octets });
  } else {
    const finished = finish();
    port.postMessage({ id, ...finished }, [finished.file.buffer]);
  }
});
