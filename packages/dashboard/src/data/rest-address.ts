/** Path below which the browser sees the server, as a proxy has it; empty at the root. */
const basePath = metaContent('base-path') ?? '';

/** Path of the dashboard, without a slash at its end. */
export const dashboardPath = `${basePath}/ui`;

/** Address of the server for RPCs. Without a page, where modules are only loaded, nothing is called. */
export const serverAddress = `${globalThis.window?.location.origin ?? ''}${basePath}`;

/** Path of the session routes, as the server is configured. */
export const apiPrefix = metaContent('api-prefix') ?? '/api';

/** Path of the JSON routes with their version, as the server is configured. */
export const apiBase = metaContent('api-base') ?? `${apiPrefix}/v1`;

/** Address of a JSON route of the server, for texts that are to be copied. */
export function restAddress(path: string): string {
  return `${window.location.origin}${apiBase}${path}`;
}

function metaContent(name: string): string | undefined {
  return globalThis.document?.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content;
}
