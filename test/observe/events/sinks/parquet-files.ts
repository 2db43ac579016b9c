import { createHash } from 'node:crypto';
import { parquetReadObjects } from 'hyparquet';
import { parseStoredJson } from '../../../../packages/exact-json/src/index.js';
import type { VersionedFiles } from '../../../../packages/versioned-files/src/index.js';

/** A file as the manifest lists it. */
export interface Entry {
  readonly path: string;
  readonly after: number;
  readonly up_to: number;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  readonly restorations: number;
}

export type ParquetRow = Record<string, unknown>;

/** Everything that is listed, in the order of the manifest. */
export async function listedFiles(files: VersionedFiles): Promise<Entry[]> {
  const paths = (await files.list('manifest/', '')).filter((path) => /^manifest\/\d{8}\.json$/.test(path));
  const entries: Entry[] = [];
  for (const path of paths.sort()) {
    const found = await files.read(path);
    const part = parseStoredJson(Buffer.from(found?.bytes ?? []).toString()) as unknown as { files: Entry[] };
    entries.push(...part.files);
  }
  return entries;
}

/** The rows of a file, as another implementation reads them. Throws when it is not the file that is listed. */
export async function readRows(files: VersionedFiles, entry: Entry): Promise<ParquetRow[]> {
  const found = await files.read(entry.path);
  if (found === null) throw new Error(`${entry.path} is listed and does not exist`);
  const bytes = Uint8Array.from(found.bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== entry.sha256 || bytes.byteLength !== entry.bytes)
    throw new Error(`${entry.path} is not as listed`);
  const rows = (await parquetReadObjects({ file: bytes.buffer })) as ParquetRow[];
  if (rows.length !== entry.rows) throw new Error(`${entry.path} has ${rows.length} rows`);
  return rows;
}

/** The rows of all listed files. Throws when their ranges of positions have a gap or overlap. */
export async function allRows(files: VersionedFiles): Promise<ParquetRow[]> {
  const rows: ParquetRow[] = [];
  let end: number | undefined;
  for (const entry of await listedFiles(files)) {
    if (end !== undefined && entry.after !== end) throw new Error(`${entry.path} does not follow ${end}`);
    end = entry.up_to;
    for (const row of await readRows(files, entry)) {
      const position = Number(row.position);
      if (position <= entry.after || position > entry.up_to) throw new Error(`${entry.path} has ${position}`);
      rows.push(row);
    }
  }
  return rows;
}
