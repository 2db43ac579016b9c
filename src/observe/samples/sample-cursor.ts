/** The last sample of a page. */
export interface SampleCursor {
  readonly takenAtMs: number;
  readonly decisionId: string;
}

const CURSOR = /^(\d{1,15})\.([0-9A-Za-z-]{1,64})$/;

/** A cursor as sent to clients, for which it is opaque. */
export function printSampleCursor({ takenAtMs, decisionId }: SampleCursor): string {
  return Buffer.from(`${takenAtMs}.${decisionId}`).toString('base64url');
}

/** A cursor that was sent to a client; undefined for any other text. */
export function readSampleCursor(text: string): SampleCursor | undefined {
  const found = CURSOR.exec(Buffer.from(text, 'base64url').toString('latin1'));
  if (found === null) return undefined;
  return { takenAtMs: Number(found[1]), decisionId: found[2] ?? '' };
}
