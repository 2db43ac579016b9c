import {
  decodeRow as decodeClickHouseRow,
  encodeEvent as encodeForClickHouse,
} from './clickhouse/clickhouse-row.js';
import { decodeRow, encodeEvent } from './sql/event-row.js';
import type { EventCodec, EventStore } from './store/event-store.js';

const SQL_CODEC: EventCodec = { encode: encodeEvent, decode: decodeRow };

/** The codec of each kind of store, without the store: for threads that only make rows. */
const CODECS: Readonly<Record<EventStore['kind'], EventCodec>> = {
  sqlite: SQL_CODEC,
  postgresql: SQL_CODEC,
  clickhouse: { encode: encodeForClickHouse, decode: decodeClickHouseRow },
};

export function codecOf(kind: EventStore['kind']): EventCodec {
  return CODECS[kind];
}
