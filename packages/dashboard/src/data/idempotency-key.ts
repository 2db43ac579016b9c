/** A key that makes it safe to send a call again whose reply was lost. */
export function newIdempotencyKey(): string {
  // Not randomUUID, which exists on secure pages only.
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
