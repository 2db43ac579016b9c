import { stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { ControlEvent } from '../store/event.js';
import type { TailEvent } from '../store/event-tail.js';
import { COLUMNS } from './parquet-columns.js';

/** A value of a column. */
export type ParquetValue = string | number | bigint | boolean | null;

/** Columns whose values are not those of the member of the same name. */
const OWN_VALUES: Readonly<Record<string, (one: TailEvent) => ParquetValue>> = {
  position: ({ position }) => position,
  timestamp: ({ event }) => event.timestamp.us,
  timestamp_text: ({ event }) => event.timestamp.text,
  metadata: ({ event }) => stringifyJson(event.metadata),
  revision: ({ event }) => (event.revision === null ? null : BigInt(event.revision)),
};

const VALUES = COLUMNS.map(
  ({ name }) =>
    OWN_VALUES[name] ?? (({ event }: TailEvent) => event[name as keyof ControlEvent] as ParquetValue),
);

/** The values of events, column by column. */
export function parquetColumns(events: readonly TailEvent[]): ParquetValue[][] {
  return VALUES.map((read) => events.map(read));
}
