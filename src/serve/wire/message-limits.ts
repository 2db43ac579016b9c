/**
 * Largest message of a reply, in bytes, where requests may have `maxMessageBytes`. Replies are built from stored data,
 * which is bounded; the limit is a safety net.
 */
export function maxReplyBytes(maxMessageBytes: number): number {
  return 4 * maxMessageBytes;
}
