import type { Pagination } from '@gen/enforcement/v1/control_pb.js';

interface CursorReply {
  readonly pagination?: Pagination | undefined;
}

interface ReadAllOptions {
  readonly signal: AbortSignal;
  /** Called after each page with the number of rows that are read. */
  readonly onProgress?: (read: number) => void;
}

/** Reads all pages of a list, for an action on all of its rows. */
export async function readAll<Reply extends CursorReply, Row>(
  readPage: (cursor: string | undefined) => Promise<Reply>,
  rowsOf: (reply: Reply) => readonly Row[],
  { signal, onProgress }: ReadAllOptions,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  do {
    signal.throwIfAborted();
    const reply = await readPage(cursor);
    rows.push(...rowsOf(reply));
    onProgress?.(rows.length);
    cursor = reply.pagination?.nextCursor;
  } while (cursor !== undefined);
  return rows;
}
