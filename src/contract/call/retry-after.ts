/**
 * The milliseconds that a header `Retry-After` asks to wait: seconds, or a date (RFC 9110, section 10.2.3). Null when it
 * says nothing. `nowMs`: milliseconds since 1970.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const ms = Date.parse(header) - nowMs;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
