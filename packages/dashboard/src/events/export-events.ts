import type { ControlExecutionEvent } from '@gen/enforcement/v1/observability_service_pb.js';
import { eventJson } from './event-json.js';

/** Lines are handed to the sink in pieces of about this many characters. */
const PIECE_LENGTH = 1 << 18;

/** Where exported bytes go. A file comes into being with `finish` only. */
export interface ExportSink {
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  finish(): Promise<void>;
  /** Discards what was written. */
  discard(): Promise<void>;
}

/** How far an export is. */
export interface ExportProgress {
  readonly events: number;
  readonly bytes: number;
}

/** Writes each event as a line of JSON. What waits to be written is never more than a piece and a line. */
export async function exportEvents(
  events: AsyncIterable<ControlExecutionEvent>,
  sink: ExportSink,
  onProgress: (progress: ExportProgress) => void,
): Promise<ExportProgress> {
  const encoder = new TextEncoder();
  let [count, bytes, piece] = [0, 0, ''];
  const flush = async (): Promise<void> => {
    const encoded = encoder.encode(piece);
    piece = '';
    await sink.write(encoded);
    bytes += encoded.length;
  };
  for await (const event of events) {
    piece += `${JSON.stringify(eventJson(event))}\n`;
    count += 1;
    onProgress({ events: count, bytes });
    if (piece.length >= PIECE_LENGTH) await flush();
  }
  await flush();
  return { events: count, bytes };
}
