import {
  type JsonObject,
  parseStoredJson,
  stringifyJson,
} from '../../../../packages/exact-json/src/index.js';
import type { ControlEvent } from '../store/event.js';

/** An event as text, without loss. */
export function printEvent({ timestamp, metadata, ...event }: ControlEvent): string {
  return JSON.stringify({
    ...event,
    timestamp: { us: String(timestamp.us), text: timestamp.text },
    metadata: stringifyJson(metadata),
  });
}

/** Reads what `printEvent` has printed. */
export function readEvent(text: string): ControlEvent {
  const { timestamp, metadata, ...event } = JSON.parse(text) as Omit<
    ControlEvent,
    'timestamp' | 'metadata'
  > & {
    readonly timestamp: { readonly us: string; readonly text: string };
    readonly metadata: string;
  };
  return {
    ...event,
    timestamp: { us: BigInt(timestamp.us), text: timestamp.text },
    metadata: parseStoredJson(metadata) as JsonObject,
  };
}
