import { until } from './until.js';

/** A reply of a JSON route. */
export interface RestReply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  readonly body: any;
}

/** Calls JSON routes the way the deployed clients do. */
export function restClient(baseUrl: string, defaultHeaders: Record<string, string> = {}) {
  return async function call(
    method: string,
    pathAndQuery: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<RestReply> {
    const response = await fetch(baseUrl + pathAndQuery, {
      method,
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...defaultHeaders, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
}

export type RestClient = ReturnType<typeof restClient>;

/**
 * Asks again, as the reply says, while the service answers 503: on a busy machine a change may take longer than the
 * service waits for it, and an evaluation longer than it waits for a revision.
 */
export function untilServed(ask: () => Promise<RestReply>): Promise<RestReply> {
  return until(ask, ({ status }) => status !== 503);
}
