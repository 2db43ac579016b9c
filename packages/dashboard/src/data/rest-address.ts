/** Path of the JSON routes before their version, as the server is configured. */
export const apiPrefix =
  document.querySelector<HTMLMetaElement>('meta[name="api-prefix"]')?.content ?? '/api';

/** Address of a JSON route of the server, for texts that are to be copied. */
export function restAddress(path: string): string {
  return `${window.location.origin}${apiPrefix}/v1${path}`;
}
