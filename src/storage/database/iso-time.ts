/** RFC 3339 in UTC, to the second; null for no time. */
export function isoOfSeconds(seconds: number | null | undefined): string | null {
  return seconds == null ? null : `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`;
}
