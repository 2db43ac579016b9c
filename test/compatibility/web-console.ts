import { exchange, type HttpAnswer } from '../support/http.js';
import { PROBLEM } from './replies.js';

/** What the browser tells a page when CORS forbids a call: nothing. */
export class NetworkError extends Error {}

export interface ConsoleReply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the console reads replies of many routes
  readonly body: any;
}

/** Errors of a form by the field they belong to; `''` collects those without one. */
export type FormErrors = Readonly<Record<string, string>>;

/** A page of the console in a browser: its calls, under the rules that a browser puts them to. */
export interface WebConsole {
  call(method: string, path: string, body?: unknown): Promise<ConsoleReply>;
  /** What the console shows: a 401 at any time leads to the login. */
  screen(): 'login' | 'content';
  /** Decides by /api/config what to show at first. */
  open(): Promise<void>;
  login(apiKey: string): Promise<ConsoleReply>;
  logout(): Promise<void>;
  /** Creates a control and links it; a control that cannot be linked does not stay. */
  createFor(agent: string, name: string, data: object): Promise<ConsoleReply>;
  /** Every item of a list, page by page. */
  scroll<Item>(path: string, list: string): Promise<Item[]>;
  readonly cookies: ReadonlyMap<string, Cookie>;
}

export interface Cookie {
  readonly value: string;
  readonly attributes: readonly string[];
}

/** Opens the console of an origin against a service on another one. */
export function webConsole(serviceUrl: string, origin: string): WebConsole {
  const cookies = new Map<string, Cookie>();
  let screen: 'login' | 'content' = 'content';

  function allowed(answer: HttpAnswer): boolean {
    const {
      'access-control-allow-origin': allowOrigin,
      'access-control-allow-credentials': allowCredentials,
    } = answer.headers;
    // With credentials `*` does not count.
    return allowOrigin === origin && allowCredentials === 'true';
  }

  /** A JSON media type is not a simple one: every call is asked about first. */
  async function preflight(method: string, path: string): Promise<void> {
    const answer = await exchange(serviceUrl, {
      method: 'OPTIONS',
      path,
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'content-type',
      },
    });
    const list = (name: string) =>
      String(answer.headers[name] ?? '')
        .toLowerCase()
        .split(/\s*,\s*/);
    const fine =
      answer.status >= 200 &&
      answer.status <= 299 &&
      allowed(answer) &&
      list('access-control-allow-methods').includes(method.toLowerCase()) &&
      list('access-control-allow-headers').includes('content-type');
    if (!fine) throw new NetworkError(`the preflight of ${method} ${path} fails: ${answer.status}`);
  }

  async function call(method: string, path: string, body?: unknown): Promise<ConsoleReply> {
    await preflight(method, path);
    const cookie = [...cookies].map(([name, { value }]) => `${name}=${value}`).join('; ');
    const answer = await exchange(serviceUrl, {
      method,
      path,
      headers: {
        origin,
        'sec-fetch-site': 'same-site',
        'sec-fetch-mode': 'cors',
        'content-type': 'application/json',
        ...(cookie === '' ? {} : { cookie }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!allowed(answer)) throw new NetworkError(`${method} ${path} may not be read: ${answer.status}`);
    for (const line of answer.headers['set-cookie'] ?? []) keep(line);
    if (answer.status === 401) screen = 'login';
    return { status: answer.status, body: answer.json };
  }

  function keep(line: string): void {
    const [pair = '', ...attributes] = line.split(/\s*;\s*/);
    const name = pair.slice(0, pair.indexOf('='));
    if (attributes.some((attribute) => /^max-age=0$/i.test(attribute))) cookies.delete(name);
    else cookies.set(name, { value: pair.slice(name.length + 1), attributes });
  }

  async function scroll<Item>(path: string, list: string): Promise<Item[]> {
    const items: Item[] = [];
    let cursor: string | null = null;
    do {
      // Controls are scrolled by number: the text becomes one on its way.
      const at: string = cursor === null ? '' : `&cursor=${/^\d+$/.test(cursor) ? Number(cursor) : cursor}`;
      const { status, body } = await call('GET', `${path}${path.includes('?') ? '&' : '?'}limit=10${at}`);
      if (status !== 200) throw new Error(`${path}: ${status}`);
      items.push(...body[list]);
      cursor = body.pagination.next_cursor;
    } while (cursor !== null);
    return items;
  }

  return {
    call,
    cookies,
    scroll,
    screen: () => screen,
    async open() {
      const { body } = await call('GET', '/api/config');
      screen = body.requires_api_key && !body.has_active_session ? 'login' : 'content';
    },
    async login(apiKey) {
      const reply = await call('POST', '/api/login', { api_key: apiKey });
      if (reply.status === 200 && reply.body.authenticated) screen = 'content';
      return reply;
    },
    async logout() {
      await call('POST', '/api/logout');
      screen = 'login';
    },
    async createFor(agent, name, data) {
      const created = await call('PUT', '/api/v1/controls', { name, data });
      if (created.status !== 200) return created;
      const id = created.body.control_id;
      const linked = await call('POST', `/api/v1/agents/${agent}/controls/${id}`);
      if (linked.status !== 200) await call('DELETE', `/api/v1/controls/${id}?force=true`);
      return linked.status === 200 ? created : linked;
    },
  };
}

/** Puts the errors of a problem to the fields of a form. Whatever is not a problem is not shown in one. */
export function formErrors({ status, body }: ConsoleReply): FormErrors | null {
  if (!PROBLEM.safeParse(body).success) return null;
  if (status === 409) return { name: body.error_code };
  return Object.fromEntries(
    ((body.errors ?? []) as { field?: string; parameter?: string; code: string }[]).map(
      ({ parameter, field = '', code }) => [parameter === undefined ? field : `parameter ${parameter}`, code],
    ),
  );
}
