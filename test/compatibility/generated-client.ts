import type { z } from 'zod';
import { exchange, type HttpAnswer } from '../support/http.js';
import { type CallInput, pathOf, ROUTES, type RouteName } from './routes.js';

/** What a route answers; undefined for the one without a body. */
export type ReplyOf<Name extends RouteName> = (typeof ROUTES)[Name][4] extends z.ZodType
  ? z.infer<(typeof ROUTES)[Name][4]>
  : undefined;

/** Why the client gave up a call: always with what came over the wire. */
export class ClientError extends Error {
  constructor(
    readonly kind: 'unexpected status' | 'unexpected media type' | 'invalid reply' | 'refused',
    readonly route: RouteName,
    readonly answer: HttpAnswer,
    cause?: unknown,
  ) {
    super(`${route}: ${kind}: ${answer.status} ${answer.text.slice(0, 500)}`, { cause });
  }
}

/**
 * Calls routes the way the generated TypeScript client does: the same headers on every call, an empty Cookie among
 * them and a media type even without a body; exactly one success status; JSON and nothing else; every declared member.
 */
export function generatedClient(baseUrl: string, apiKey: string) {
  const used = new Set<RouteName>();

  async function call<Name extends RouteName>(route: Name, input: CallInput = {}): Promise<ReplyOf<Name>> {
    const [method, , , status, reply] = ROUTES[route];
    const answer = await exchange(baseUrl, {
      method,
      path: pathOf(route, input),
      headers: {
        'x-api-key': apiKey,
        accept: 'application/json',
        'content-type': 'application/json',
        cookie: '',
        'user-agent': 'generated-sdk/typescript 7.4.1',
      },
      ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
    });
    if (answer.status >= 400) throw new ClientError('refused', route, answer);
    if (answer.status !== status) throw new ClientError('unexpected status', route, answer);
    used.add(route);
    if (reply === null) {
      if (answer.text !== '') throw new ClientError('invalid reply', route, answer);
      return undefined as ReplyOf<Name>;
    }
    if (!/^application\/json\s*(;|$)/.test(answer.headers['content-type'] ?? '')) {
      throw new ClientError('unexpected media type', route, answer);
    }
    const parsed = reply.safeParse(answer.json);
    if (!parsed.success) throw new ClientError('invalid reply', route, answer, parsed.error);
    // Members that the client does not know stay: tests look at them.
    return answer.json as ReplyOf<Name>;
  }

  return { call, used };
}

export type GeneratedClient = ReturnType<typeof generatedClient>;
