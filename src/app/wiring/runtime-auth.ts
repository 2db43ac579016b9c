import type { AuthService } from '../../../gen/proto/enforcement/v1/auth_service_pb.js';
import type { CallContext, HandlersOf, Principal } from '../../contract/call/handler.js';
import type { TargetName } from '../../contract/call/namespace.js';
import type { RoleTable } from '../../contract/call/scopes.js';
import type { Config } from '../../contract/config/config.js';
import { unknownNamespace } from '../../contract/errors/unknown-namespace.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { RuntimeAccess } from '../../serve/auth/authenticator.js';
import type { KnownNamespaces } from '../../serve/auth/browser-sessions.js';
import { createKeyReader, type KeyReader } from '../../serve/auth/key-reader.js';
import type { KeyRing } from '../../serve/auth/key-ring.js';
import type { ProtectedMethod } from '../../serve/auth/protected-method.js';
import { createRuntimeTokens, EXCHANGE_OPERATION } from '../../serve/auth/runtime-tokens.js';
import { createUpstreamClient } from '../../serve/auth/upstream-client.js';
import {
  createForwardedText,
  createUpstreamDecisions,
  type UpstreamDecisions,
} from '../../serve/auth/upstream-decisions.js';
import { operationScopes } from '../../serve/auth/upstream-rights.js';
import {
  createRuntimeTokens as createExchange,
  type ExchangedRights,
} from '../../serve/runtime-tokens/runtime-tokens.js';
import { createTokenCodec, type TokenCodec } from '../../serve/runtime-tokens/token-codec.js';

/** Tells what the exchange of credentials needs to know of its caller. */
export interface CallerRights {
  rightsOf(principal: Principal): ExchangedRights;
  granted(context: CallContext, target: TargetName): Principal | Promise<Principal>;
}

/** Runtime tokens, as features and transports share them. */
export interface RuntimeTokenParts {
  /** Null if no secret is configured. */
  readonly codec: TokenCodec | null;
  readonly handlers: HandlersOf<typeof AuthService>;
  /** Sets who tells about callers: transports are made after features. Must be called before the first call. */
  connect(rights: CallerRights): void;
}

export function createRuntimeTokenParts(
  { secrets, ttlSeconds }: Pick<Config['auth']['runtime'], 'secrets' | 'ttlSeconds'>,
  now: () => number,
): RuntimeTokenParts {
  const codec = secrets.length === 0 ? null : createTokenCodec(secrets);
  let connected: CallerRights | undefined;
  const rights = (): CallerRights => {
    if (connected === undefined) throw new Error('a token is exchanged before transports exist');
    return connected;
  };
  const handlers = createExchange({
    codec,
    ttlSeconds,
    now,
    rightsOf: (principal) => rights().rightsOf(principal),
    granted: (context, target) => rights().granted(context, target),
  });
  return {
    codec,
    handlers,
    connect(given) {
      connected = given;
    },
  };
}

/** What evaluations take. */
export function runtimeAccess(
  { mode }: Pick<Config['auth']['runtime'], 'mode'>,
  codec: TokenCodec | null,
  keyRing: KeyRing,
  now: () => number,
): RuntimeAccess {
  return { mode, tokens: codec === null ? null : createRuntimeTokens({ codec, keyRing, now }) };
}

/** Reads keys, or what is forwarded instead. */
export function keyReaderOf({ keyHeaders, runtime, upstream }: Config['auth']): KeyReader {
  const forwarded = upstream === null ? undefined : createForwardedText([...keyHeaders, ...upstream.headers]);
  return createKeyReader({ keyHeaders, runtime, forwarded });
}

export interface UpstreamParts {
  readonly auth: Config['auth'];
  readonly methods: Iterable<ProtectedMethod>;
  readonly roles: RoleTable;
  readonly failures: Pick<RepeatLog, 'failed'>;
  readonly now: () => number;
}

/** The decisions of the upstream service; undefined if this one decides. */
export function upstreamDecisions({
  auth,
  methods,
  roles,
  failures,
  now,
}: UpstreamParts): UpstreamDecisions | undefined {
  const { upstream } = auth;
  if (upstream === null) return undefined;
  return createUpstreamDecisions({
    client: createUpstreamClient(upstream),
    settings: upstream,
    operations: operationScopes(methods),
    roles,
    now,
    onFailure: (error) =>
      failures.failed('auth upstream', 'the service that decides about calls did not decide', error, {
        code: error.code,
      }),
  });
}

/** What the exchange needs to know of callers. */
export function callerRights(
  auth: Config['auth'],
  keyRing: KeyRing,
  upstream: UpstreamDecisions | undefined,
  exchange: ProtectedMethod,
  namespaces: KnownNamespaces,
): CallerRights {
  const textOf = createForwardedText([...auth.keyHeaders, ...(auth.upstream?.headers ?? [])]);
  return {
    rightsOf({ keyFingerprint, expiresAtMs = Number.POSITIVE_INFINITY }) {
      const key = upstream === undefined ? keyRing.byFingerprint(keyFingerprint ?? '') : undefined;
      return {
        origin: key === undefined ? 'grant' : 'key',
        endMs: Math.min(expiresAtMs, key?.expiresAtMs ?? Number.POSITIVE_INFINITY),
      };
    },
    async granted(context, target) {
      if (upstream === undefined) return context.principal;
      // Nothing but headers of the call identifies its caller.
      const headers = new Proxy({}, { get: (_none, name) => context.header(String(name)) });
      const principal = await upstream.ask(textOf(headers) ?? '[]', exchange, target);
      const { namespace } = principal;
      if (!namespace.isDefault && !namespaces.known(namespace.name)) throw unknownNamespace(namespace.name);
      return principal;
    },
  };
}

/** The method of the exchange. */
export function exchangeMethod(methods: Iterable<ProtectedMethod>): ProtectedMethod {
  for (const method of methods) if (method.operation === EXCHANGE_OPERATION) return method;
  throw new Error(`no RPC has the operation ${EXCHANGE_OPERATION}`);
}
