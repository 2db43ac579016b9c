import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Namespace } from '../../contract/call/namespace.js';
import type { ControlEvent } from './store/event.js';
import { isStorableEvent } from './store/event-columns.js';
import { isOwnKey, keyedEvent } from './store/event-keys.js';
import type { EncodedEvent, EventCodec } from './store/event-store.js';

/** Events of one message, checked, in the form in which the store takes them. */
export interface ReadEvents {
  readonly encoded: readonly EncodedEvent[];
  /** Whether every store can hold all of them unchanged. If not, none of them is stored. */
  readonly areStorable: boolean;
  /** Number of events that were left out, because their sender may not report them. */
  readonly foreign?: number;
  /** Number of events that are dated ahead of the clock of the service; none by default. */
  readonly ahead?: number;
}

/** How far clocks may differ before events are ahead of it: statistics count them as soon as they are stored. */
const TOLERATED_US = 300_000_000n;

/** A message of an RPC that stores events: as its schema reads it, or already encoded in another thread. */
export type EventMessage = { readonly events: readonly ControlEvent[] } | ReadEvents;

/** Encodes events; the rows of those that cannot be stored are of no use, but their number counts. */
export function readEvents(
  events: readonly ControlEvent[],
  encode: EventCodec['encode'],
  nowMs = Date.now(),
): ReadEvents {
  const latestUs = BigInt(nowMs) * 1_000n + TOLERATED_US;
  const ahead = events.reduce((count, { timestamp }) => count + (timestamp.us > latestUs ? 1 : 0), 0);
  return { encoded: events.map(encode), areStorable: events.every(isStorableEvent), ahead };
}

/** The events of a message in the form in which the store takes them. */
export function encodedEvents(
  message: EventMessage,
  encode: EventCodec['encode'],
  nowMs: number,
): ReadEvents {
  return 'encoded' in message ? message : readEvents(message.events, encode, nowMs);
}

/** The same events as they are stored: with the keys of their agents and ids in a namespace. They were checked as sent. */
export function keyedEvents(
  read: ReadEvents,
  namespace: Namespace,
  encode: EventCodec['encode'],
): ReadEvents {
  const { encoded, areStorable } = read;
  if (!areStorable || encoded.every(({ id }) => isOwnKey(namespace, id))) return read;
  return { ...read, encoded: encoded.map(({ event }) => encode(keyedEvent(event, namespace))) };
}

/** Events encoded per turn, a fraction of a millisecond: evaluations must not wait for more. */
const EVENTS_PER_TURN = 64;

/** Encodes many events, yielding in between. */
export async function encodeInTurns(
  events: readonly ControlEvent[],
  encode: EventCodec['encode'],
): Promise<EncodedEvent[]> {
  const encoded: EncodedEvent[] = [];
  for (let at = 0; at < events.length; at += EVENTS_PER_TURN) {
    if (at > 0) await othersTurn();
    for (const event of events.slice(at, at + EVENTS_PER_TURN)) encoded.push(encode(event));
  }
  return encoded;
}

/** What a thread sends of `ReadEvents`: few texts, because each object costs the receiver a microsecond or two. */
export interface SentEvents {
  readonly ids: readonly string[];
  /** One row a line. */
  readonly rows: string;
  /** Undefined when all are 0. */
  readonly traits: readonly number[] | undefined;
  readonly areStorable: boolean;
  readonly ahead: number | undefined;
}

/** Rows are JSON texts, in which line breaks are escaped. */
const LINE_BREAK = '\n';

export function packEvents({ encoded, areStorable, ahead }: ReadEvents): SentEvents {
  return {
    ids: encoded.map(({ id }) => id),
    rows: encoded.map(({ row }) => row).join(LINE_BREAK),
    traits: encoded.some(({ traits }) => traits !== 0) ? encoded.map(({ traits }) => traits) : undefined,
    areStorable,
    ahead,
  };
}

export function unpackEvents(sent: SentEvents, decode: EventCodec['decode']): ReadEvents {
  const rows = sent.rows.split(LINE_BREAK);
  const encoded = sent.ids.map(
    (id, index) => new SentEvent(id, rows[index] ?? '', sent.traits?.[index] ?? 0, decode),
  );
  return { encoded, areStorable: sent.areStorable, ahead: sent.ahead ?? 0 };
}

/** An event encoded in another thread. */
class SentEvent implements EncodedEvent {
  readonly id: string;
  readonly row: string;
  readonly traits: number;
  readonly #decode: EventCodec['decode'];
  #event: ControlEvent | undefined;

  constructor(id: string, row: string, traits: number, decode: EventCodec['decode']) {
    this.id = id;
    this.row = row;
    this.traits = traits;
    this.#decode = decode;
  }

  get event(): ControlEvent {
    this.#event ??= this.#decode(this.row);
    return this.#event;
  }
}
