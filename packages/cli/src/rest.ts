import {
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  stringifyJson,
} from '../../exact-json/src/index.js';
import type { TimedReply } from './clock.js';
import { CliError, messageOf } from './errors.js';

/** Values of query parameters; those that are undefined are left out, of lists each is sent. */
export type Query = { readonly [name: string]: string | number | boolean | readonly string[] | undefined };

/** The JSON routes of the server, without loss of digits. Refusals are `RestError`s. */
export interface Rest {
  get(path: string, query?: Query): Promise<JsonObject>;
  /** Asks for an object, and takes the times; `dateMs` is NaN if the server does not tell its own. */
  timed(path: string): Promise<TimedReply>;
  send(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: JsonObject): Promise<JsonObject>;
  /** The lines of a streamed reply, each of which is a JSON object. */
  lines(path: string, body: JsonObject): AsyncGenerator<JsonObject>;
}

/** An entry of `errors` of a refusal. */
export interface RefusedItem {
  readonly field: string | undefined;
  readonly code: string;
  readonly message: string;
}

/** The server refused a call, and says why. */
export class RestError extends CliError {
  readonly status: number;
  readonly code: string;
  readonly items: readonly RefusedItem[];

  constructor(
    status: number,
    code: string,
    detail: string,
    hint: string | undefined,
    items: readonly RefusedItem[],
  ) {
    super(detail, hint);
    this.name = 'RestError';
    this.status = status;
    this.code = code;
    this.items = items;
  }
}

/** Longest time of a call that is not a stream. */
const CALL_TIMEOUT_MS = 120_000;

export function createRest(
  server: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Rest {
  async function request(
    method: string,
    path: string,
    body: JsonObject | undefined,
    ended: AbortSignal,
  ): Promise<Response> {
    try {
      const response = await fetch(server + path, {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        body: body === undefined ? null : stringifyJson(body),
        // A key must not follow to another place.
        redirect: 'manual',
        signal: ended,
      });
      if (response.ok) return response;
      throw await refusalOf(server, response);
    } catch (error) {
      if (error instanceof CliError || signal.aborted) throw error;
      throw unreachable(server, error);
    }
  }

  const limited = (): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]);
  const call = async (method: string, path: string, body?: JsonObject): Promise<JsonObject> => {
    const response = await request(method, path, body, limited());
    return objectOf(await response.text(), server);
  };

  return {
    get: (path, query = {}) => call('GET', path + queryText(query)),
    async timed(path) {
      const sentMs = Date.now();
      const response = await request('GET', path, undefined, limited());
      const receivedMs = Date.now();
      objectOf(await response.text(), server);
      return { dateMs: Date.parse(response.headers.get('date') ?? ''), sentMs, receivedMs };
    },
    send: call,
    async *lines(path, body) {
      const response = await request('POST', path, body, signal);
      let rest = '';
      try {
        for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
          const lines = (rest + chunk).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) if (line !== '') yield objectOf(line, server);
        }
      } catch (error) {
        if (error instanceof CliError || signal.aborted) throw error;
        throw new CliError(
          `the reply of ${server} ended early: ${messageOf(error)}`,
          'What was read is not complete. Repeat the command.',
        );
      }
      if (rest.trim() !== '') yield objectOf(rest, server);
    },
  };
}

function queryText(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) parameters.append(name, String(one));
    }
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}

function objectOf(text: string, server: string): JsonObject {
  let value: JsonValue;
  try {
    value = text === '' ? {} : parseJson(text);
  } catch {
    value = null;
  }
  if (isObject(value)) return value;
  throw new CliError(`${server} answered with something else than a JSON object`, NOT_A_SERVER);
}

const NOT_A_SERVER = 'Is the address that of a Control Enforcement Service? See control-enforcement doctor.';

async function refusalOf(server: string, response: Response): Promise<CliError> {
  const { status } = response;
  if (status >= 300 && status < 400) {
    const place = response.headers.get('location') ?? 'another place';
    return new CliError(
      `${server} redirects to ${place}`,
      'Give the address of the service itself as --server.',
    );
  }
  const text = await response.text().catch(() => '');
  let body: JsonValue;
  try {
    body = parseJson(text);
  } catch {
    body = null;
  }
  if (!isObject(body) || typeof body.detail !== 'string') {
    return new CliError(`${server} answered with the status ${status}`, NOT_A_SERVER);
  }
  const { code, detail, hint, errors } = body;
  const items = (Array.isArray(errors) ? errors : []).filter(isObject).map((item) => ({
    field: typeof item.field === 'string' ? item.field : undefined,
    code: String(item.code),
    message: String(item.message),
  }));
  const advice = typeof hint === 'string' ? hint : undefined;
  return new RestError(status, typeof code === 'string' ? code : 'INTERNAL_ERROR', detail, advice, items);
}

/** The server cannot be reached; the cause of a failed fetch says why. */
export function unreachable(server: string, error: unknown): CliError {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const message = messageOf(cause) || String(cause);
  const hint = /certificate|self.signed|issuer/i.test(message)
    ? 'Name the file of the authority as NODE_EXTRA_CA_CERTS, or use the name that the certificate has.'
    : 'Check the address and that the service runs: control-enforcement doctor tells more.';
  return new CliError(`cannot reach ${server}: ${message}`, hint, { cause: error });
}
