import type { EventCodec } from '../../../src/observe/events/store/event-store.js';
import { decodeRow, encodeEvent } from './clickhouse-row.js';

export { createClickHouseEventStore } from './clickhouse-event-store.js';

/** The form in which the store takes events, for threads that only make rows. */
export const CODEC: EventCodec = { encode: encodeEvent, decode: decodeRow };
