import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import type { AuthService } from '../../../gen/proto/enforcement/v1/auth_service_pb.js';
import { type CallContext, type HandlersOf, handler, type Principal } from '../../contract/call/handler.js';
import type { TargetName } from '../../contract/call/namespace.js';
import { isoOfSeconds } from '../../contract/call/printed.js';
import { scopeMask } from '../../contract/call/scopes.js';
import type { ErrorItem } from '../../contract/errors/service-error.js';
import { text, withExample } from '../../contract/input/fields.js';
import { invalidRequest } from '../../contract/input/parse-input.js';
import type { Warning } from '../../contract/warnings/warning.js';
import { TOKEN_SCOPE, type TokenOrigin } from './token-claims.js';
import { MAX_TOKEN_LENGTH, type TokenCodec } from './token-codec.js';
import {
  endedGrant,
  exchangesOtherTarget,
  exchangesTooMuch,
  noTokenSecret,
  tooManyAgents,
} from './token-errors.js';

/** What a token of a caller follows from. */
export interface ExchangedRights {
  readonly origin: TokenOrigin;
  /** When they end, in milliseconds since 1970; infinite if they do not. */
  readonly endMs: number;
}

export interface RuntimeTokensOptions {
  /** Null if no secret is configured. */
  readonly codec: Pick<TokenCodec, 'sign'> | null;
  /** How long a token lasts, in seconds. */
  readonly ttlSeconds: number;
  /**
   * The rights of the caller for a target. By default those that it has entered with; a promise if another service decides.
   * Fails with the error of the call.
   */
  readonly granted?: (context: CallContext, target: TargetName) => Principal | Promise<Principal>;
  readonly rightsOf: (principal: Principal) => ExchangedRights;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const { target_type, target_id } = LIMITS.ExchangeRuntimeTokenRequest;
const EXAMPLE = { target_type: 'log_stream', target_id: 'checkout' };
const target = z.object({ target_type: text(target_type), target_id: text(target_id) });
const exchangeSchema = withExample(target, EXAMPLE);

const EVALUATE = scopeMask(['evaluate']);

/** The RPCs of AuthService. */
export function createRuntimeTokens(options: RuntimeTokensOptions): HandlersOf<typeof AuthService> {
  const { codec, ttlSeconds, rightsOf, now } = options;
  const { granted = ({ principal }: CallContext) => principal } = options;

  function tokenFor(principal: Principal, target: TargetName) {
    const { agents, keyFingerprint, name, namespace } = principal;
    if (codec === null) throw noTokenSecret();
    if ((principal.scopes & EVALUATE) === 0n || keyFingerprint === null) throw exchangesTooMuch();
    if (principal.target !== null && !isSameTarget(principal.target, target)) throw exchangesOtherTarget();
    const { origin, endMs } = rightsOf(principal);
    const issuedAt = Math.floor(now() / 1000);
    const expiresAt = Math.min(issuedAt + ttlSeconds, Math.floor(endMs / 1000));
    if (expiresAt <= issuedAt) throw endedGrant();
    const token = codec.sign({
      namespace: namespace.name,
      actor: name ?? keyFingerprint,
      origin,
      fingerprint: keyFingerprint,
      // A token of a key has the agents that its key has at each call.
      agents: origin === 'key' ? null : (agents?.patterns ?? null),
      targetType: target.type,
      targetId: target.id,
      issuedAt,
      expiresAt,
      id: randomUUID(),
    });
    if (token.length > MAX_TOKEN_LENGTH) throw tooManyAgents();
    return { token, expiresAt };
  }

  return {
    exchangeRuntimeToken: handler(
      exchangeSchema,
      async ({ target_type, target_id }, context) => {
        const unread = unreadItems(context.ignoredParts());
        if (unread.length > 0) throw invalidRequest(unread);
        if (codec === null) throw noTokenSecret();
        const target = { type: target_type, id: target_id };
        const { token, expiresAt } = tokenFor(await granted(context, target), target);
        return {
          token,
          expires_at: isoOfSeconds(expiresAt),
          target_type,
          target_id,
          scopes: [TOKEN_SCOPE],
        };
      },
      (_input, context) => Promise.resolve(unreadItems(context.ignoredParts())),
    ),
  };
}

/** Members that are not read are refused: a caller that misspells one may expect another token than it gets. */
function unreadItems(ignored: readonly Warning[]): ErrorItem[] {
  return ignored.map(({ field, message }) => ({
    resource: 'Request',
    field,
    code: 'extra_forbidden',
    message,
  }));
}

function isSameTarget(one: TargetName, other: TargetName): boolean {
  return one.type === other.type && one.id === other.id;
}
