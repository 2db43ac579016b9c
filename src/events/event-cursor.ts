import type { EventCursor } from './event-search.js';

const CURSOR = /^(-?\d{1,18})\.(\d{1,18})$/;

/** A cursor as clients get it. They need not know what it says. */
export function printCursor({ timeUs, position }: EventCursor): string {
  return Buffer.from(`${timeUs}.${position}`).toString('base64url');
}

/** Reads a cursor that clients got before; undefined when it is none. */
export function readCursor(text: string): EventCursor | undefined {
  const found = CURSOR.exec(Buffer.from(text, 'base64url').toString('latin1'));
  if (found === null) return undefined;
  const [, timeUs = '', position = ''] = found;
  return { timeUs: BigInt(timeUs), position: BigInt(position) };
}
