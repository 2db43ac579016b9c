import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server';
import { canonicalJson, type JsonValue } from '../../exact-json/src/index.js';
import { GatewayError } from './errors.js';
import { exactOf } from './exact-message.js';

/** What a client carries from a result that asks for a repetition to the repeated call. */
export type CallState =
  /** The call waits for this approval. */
  | { readonly kind: 'approval'; readonly approval: number }
  /** The upstream asks for input: its own state, and the id of the step, which goes on. */
  | { readonly kind: 'upstream'; readonly state: string | undefined; readonly stepId: string };

/** The call that a state belongs to. */
export interface StateBinding {
  readonly principal: string;
  readonly agent: string;
  readonly sessionId: string | undefined;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/**
 * States for `requestState` (MCP 2026-07-28, basic/patterns/mrtr): signed, bound to the caller, the method and the
 * parameters, and valid for a limited time. One that is about an approval is accepted once.
 */
export interface CallStates {
  seal(state: CallState, binding: StateBinding): Promise<string>;
  /** Throws an error of JSON-RPC with the code -32602 for a state that is not accepted. Does not say why to the caller. */
  open(sealed: string, binding: StateBinding): Promise<CallState>;
}

interface Sealed {
  readonly s: CallState;
  /** SHA-256 of what it is bound to. */
  readonly d: string;
  /** Makes it different from every other one. */
  readonly n: string;
}

/** Used states that are remembered at least; beyond it, states that would have to be forgotten too early are refused. */
const MAX_USED = 100_000;
/** Members of parameters that differ when a call is repeated. */
const OF_ONE_REQUEST = new Set(['_meta', 'requestState', 'inputResponses']);

export function createCallStates(
  key: string | undefined,
  seconds: number,
  now: () => number = () => performance.now(),
): CallStates {
  const codec = createRequestStateCodec<Sealed>({ key: key ?? randomBytes(32), ttlSeconds: seconds });
  /** Used states with the time until which they would be valid, oldest first. */
  const used = new Map<string, number>();
  // The codec reads nothing of it without `bind`.
  const noContext = {} as ServerContext;

  function useOnce(nonce: string): boolean {
    const time = now();
    for (const [old, until] of used) {
      if (until > time) break;
      used.delete(old);
    }
    if (used.has(nonce) || used.size >= MAX_USED) return false;
    // A second more than the codec, which counts in whole seconds of another clock.
    used.set(nonce, time + (seconds + 1) * 1_000);
    return true;
  }

  return {
    seal: (state, binding) => codec.mint({ s: state, d: digestOf(binding), n: randomUUID() }),
    async open(sealed, binding) {
      const read = await codec.verify(sealed, noContext).catch(() => undefined);
      const isValid =
        read !== undefined && read.d === digestOf(binding) && (read.s.kind !== 'approval' || useOnce(read.n));
      if (isValid) return read.s;
      throw new GatewayError(
        'invalidParams',
        'the requestState is not valid for this call; call again without it',
      );
    },
  };
}

function digestOf({ principal, agent, sessionId, method, params }: StateBinding): string {
  const lasting = Object.fromEntries(Object.entries(params).filter(([name]) => !OF_ONE_REQUEST.has(name)));
  const bound = [principal, agent, sessionId ?? null, method, lasting];
  return createHash('sha256')
    .update(canonicalJson(exactOf(bound) as JsonValue))
    .digest('base64url');
}
