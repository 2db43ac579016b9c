/** Path of the session routes, as the server is configured. */
export const apiPrefix = metaContent('api-prefix') ?? '/api';

/** Path of the JSON routes with their version, as the server is configured. */
export const apiBase = metaContent('api-base') ?? `${apiPrefix}/v1`;

/** Address of a JSON route of the server, for texts that are to be copied. */
export function restAddress(path: string): string {
  return `${window.location.origin}${apiBase}${path}`;
}

function metaContent(name: string): string | undefined {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content;
}
