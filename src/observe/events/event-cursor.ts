import type { EventCursor } from './store/event-search.js';

const CURSOR = /^(-?\d{1,18})\.(\d{1,18})$/;

/** A cursor as sent to clients, for which it is opaque. */
export function printCursor({ timeUs, position }: EventCursor): string {
  return Buffer.from(`${timeUs}.${position}`).toString('base64url');
}

/** Parses a cursor previously sent to a client; undefined when it is invalid. */
export function readCursor(text: string): EventCursor | undefined {
  const found = CURSOR.exec(Buffer.from(text, 'base64url').toString('latin1'));
  if (found === null) return undefined;
  const [, timeUs = '', position = ''] = found;
  return { timeUs: BigInt(timeUs), position: BigInt(position) };
}
