/** Address of a trace. Trace ids are free text, so they are a parameter and not part of the path. */
export function traceAddress(traceId: string): string {
  return `/traces?id=${encodeURIComponent(traceId)}`;
}
