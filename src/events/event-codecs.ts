import { decodeRow, encodeEvent } from './sql/event-row.js';
import type { EventCodec, EventStore } from './store/event-store.js';

const SQL_CODEC: EventCodec = { encode: encodeEvent, decode: decodeRow };

/** The codec of each kind of store, without the store: for threads that only make rows. */
const CODECS: Readonly<Partial<Record<EventStore['kind'], EventCodec>>> = {
  sqlite: SQL_CODEC,
  postgresql: SQL_CODEC,
};

/** Undefined for a store whose rows are only made in the thread that serves requests. */
export function codecOf(kind: EventStore['kind']): EventCodec | undefined {
  return CODECS[kind];
}
