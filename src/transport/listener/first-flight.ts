/** Length of the connection preface, and of the head of each frame (RFC 9113, sections 3.4 and 4.1). */
const PREFACE_BYTES = 24;
const HEAD_BYTES = 9;
const RST_STREAM = 3;

/** Streams that a client may have reset before the service has said a word. */
const MAX_RESETS = 20;

/**
 * Whether what a client of HTTP/2 has sent first opens streams only to reset them. It is looked at before a session is
 * made: Node.js takes a hundred times longer to find the same out, and a client that connects anew each time would keep
 * it busy with that.
 */
export function isResetStorm(received: Buffer): boolean {
  let resets = 0;
  for (
    let at = PREFACE_BYTES;
    at + HEAD_BYTES <= received.length;
    at += HEAD_BYTES + received.readUIntBE(at, 3)
  ) {
    if (received[at + 3] !== RST_STREAM) continue;
    resets += 1;
    if (resets > MAX_RESETS) return true;
  }
  return false;
}
