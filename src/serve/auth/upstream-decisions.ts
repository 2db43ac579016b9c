import { hash } from 'node:crypto';
import type { Grant } from '../../contract/call/grant.js';
import { ANONYMOUS, type Principal } from '../../contract/call/handler.js';
import type { TargetName } from '../../contract/call/namespace.js';
import type { RoleTable } from '../../contract/call/scopes.js';
import type { UpstreamSettings } from '../../contract/config/auth-modes.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import { expiredToken } from './credential-errors.js';
import { API_KEY_HEADER, type KeyHeaders } from './key-reader.js';
import type { ProtectedMethod } from './protected-method.js';
import { RUNTIME_OPERATION } from './runtime-tokens.js';
import type { UpstreamClient } from './upstream-client.js';
import { notGranted, unavailable } from './upstream-errors.js';
import { grantedPrincipal, type OperationScopes } from './upstream-rights.js';

/** Most decisions that are kept. */
const MAX_KEPT = 10_000;
/** Most questions that are open. */
const MAX_ASKED = 1_000;
/** Longest time for which a refusal is kept, in milliseconds. */
const REFUSED_MS = 1_000;
/** Most fingerprints of callers that are remembered by their credentials. */
const MAX_CALLERS = 20_000;
/** Between two questions about a call that lasts, in milliseconds. */
const RENEWAL_MS = 5_000;

/** Decides about calls by what another service says. `credentials` are those of `forwardedText`. */
export interface UpstreamDecisions {
  /** Whether it is known now what `find` does. */
  knows(credentials: string, method: ProtectedMethod): boolean;
  /**
   * The caller, if the service has permitted its call. Fails with its refusal. Undefined if it has to be asked. For use
   * at once after `knows`.
   */
  find(credentials: string, method: ProtectedMethod): Principal | undefined;
  /** Asks the service, unless it is known. Rejects with the error of the call. */
  ask(credentials: string, method: ProtectedMethod, target?: TargetName | null): Promise<Principal>;
  /** The fingerprint of the caller with these credentials, if it has called before. */
  fingerprintOf(credentials: string): string | undefined;
}

interface UpstreamOptions {
  readonly client: UpstreamClient;
  readonly settings: Pick<UpstreamSettings, 'cacheMs'>;
  readonly operations: OperationScopes;
  readonly roles: RoleTable;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called when nothing could be decided. */
  readonly onFailure: (error: ServiceError) => void;
}

/** A decision until a time, in milliseconds since 1970. */
type Decision = { readonly untilMs: number } & (
  | { readonly principal: Principal }
  | { readonly refused: ServiceError }
);

export function createUpstreamDecisions(options: UpstreamOptions): UpstreamDecisions {
  const { client, settings, operations, roles, now, onFailure } = options;
  const decided = new BoundedMap<string, Decision>({ entries: MAX_KEPT });
  const asking = new Map<string, Promise<Principal>>();
  const callers = new BoundedMap<string, string>({ entries: MAX_CALLERS });

  const isLasting = (decision: Decision | undefined): decision is Decision =>
    decision !== undefined && decision.untilMs > now();

  function keep(key: string, decision: Decision): void {
    if (decision.untilMs > now()) decided.set(key, decision);
  }

  function principalOf(decision: Decision): Principal {
    if ('refused' in decision) throw decision.refused;
    const { expiresAtMs = Number.POSITIVE_INFINITY } = decision.principal;
    if (expiresAtMs <= now()) throw expiredToken();
    return decision.principal;
  }

  async function decide(
    key: string,
    credentials: string,
    method: ProtectedMethod,
    target: TargetName | null,
  ): Promise<Principal> {
    const about = { method, credentials };
    try {
      const grant = await client.ask({
        operation: method.operation,
        target,
        headers: readForwarded(credentials),
      });
      const rights = grantedPrincipal(grant, { ...about, nowMs: now() }, operations, roles);
      const principal = { ...rights, grant: grantOf(credentials, method, target, rights) };
      keep(key, { principal, untilMs: Math.min(now() + settings.cacheMs, grant.expiresAtMs ?? Infinity) });
      if (rights.keyFingerprint !== null) callers.set(digestOf(credentials), rights.keyFingerprint);
      return principal;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (isRefusal(error))
        keep(key, { refused: error, untilMs: now() + Math.min(REFUSED_MS, settings.cacheMs) });
      else onFailure(error);
      throw error;
    }
  }

  function ask(
    credentials: string,
    method: ProtectedMethod,
    target: TargetName | null = null,
  ): Promise<Principal> {
    const key = keyOf(credentials, method, target);
    const known = decided.get(key);
    if (isLasting(known)) return new Promise((resolve) => resolve(principalOf(known)));
    return askAnew(key, credentials, method, target);
  }

  /** Calls that wait for the same decision share one question. */
  function askAnew(
    key: string,
    credentials: string,
    method: ProtectedMethod,
    target: TargetName | null,
  ): Promise<Principal> {
    const open = asking.get(key);
    if (open !== undefined) return open;
    if (asking.size >= MAX_ASKED) return Promise.reject(unavailable('has too many open questions'));
    const made = decide(key, credentials, method, target).finally(() => asking.delete(key));
    asking.set(key, made);
    return made;
  }

  function grantOf(
    credentials: string,
    method: ProtectedMethod,
    target: TargetName | null,
    rights: Omit<Principal, 'grant'>,
  ): Grant {
    const { namespace } = rights;
    const demandSame = (other: Principal): void => {
      if (other.namespace.name !== namespace.name)
        throw notGranted(`in the namespace ${other.namespace.name}`);
      if ((other.scopes & method.scopeMask) === 0n) throw notGranted('with other scopes');
    };
    return {
      holds: () => true,
      renewal: {
        everyMs: Math.max(RENEWAL_MS, settings.cacheMs),
        ask: () => ask(credentials, method, target).then(demandSame),
      },
      askTarget(wanted) {
        if (method.operation !== RUNTIME_OPERATION) return undefined;
        const demandTarget = (other: Principal): void => {
          demandSame(other);
          const { target: only } = other;
          if (only !== null && (only.type !== wanted.type || only.id !== wanted.id))
            throw notGranted('for another target');
        };
        const known = decided.get(keyOf(credentials, method, wanted));
        if (!isLasting(known)) return ask(credentials, method, wanted).then(demandTarget);
        demandTarget(principalOf(known));
        return undefined;
      },
    };
  }

  return {
    knows: (credentials, method) => isLasting(decided.get(keyOf(credentials, method, null))),
    find(credentials, method) {
      const known = decided.get(keyOf(credentials, method, null));
      return known === undefined ? undefined : principalOf(known);
    },
    ask,
    fingerprintOf: (credentials) => callers.get(digestOf(credentials)),
  };
}

/** A decision of the service; nothing else is one. */
function isRefusal({ code }: ServiceError): boolean {
  return code === 'AUTH_INVALID_KEY' || code === 'AUTH_INSUFFICIENT_PRIVILEGES';
}

/** The last credentials and their digest: a call asks for it several times. */
let last = { credentials: '', digest: '' };

function digestOf(credentials: string): string {
  if (last.credentials !== credentials) last = { credentials, digest: hash('sha256', credentials, 'base64') };
  return last.digest;
}

function keyOf(credentials: string, { operation }: ProtectedMethod, target: TargetName | null): string {
  const key = `${digestOf(credentials)} ${operation}`;
  return target === null ? key : `${key} ${JSON.stringify([target.type, target.id])}`;
}

/** The caller of an exchange, until its target is known. It may do nothing else. */
export function undecidedCaller({ scopeMask }: ProtectedMethod): Principal {
  return { ...ANONYMOUS, level: 'key', scopes: scopeMask };
}

/** The error of a call about which nothing is known and nothing can be awaited. */
export function undecidedByUpstream(): ServiceError {
  return unavailable('has not been asked yet');
}

/** Headers with credentials that are always forwarded. */
const ALWAYS = [API_KEY_HEADER, 'authorization', 'cookie'];

/** The headers with credentials, as one text that identifies them; undefined if a request has none of them. */
export function createForwardedText(
  further: readonly string[],
): (headers: KeyHeaders['headers']) => string | undefined {
  const names = [...new Set([...ALWAYS, ...further])];
  return (headers) => {
    let found: string[] | undefined;
    for (const name of names) {
      const value = headers[name];
      if (value === undefined || value === '') continue;
      found ??= [];
      found.push(name, typeof value === 'string' ? value : value.join(', '));
    }
    return found === undefined ? undefined : JSON.stringify(found);
  };
}

/** The headers in such a text. */
function readForwarded(text: string): Record<string, string> {
  const flat = JSON.parse(text) as string[];
  const headers: Record<string, string> = {};
  for (let index = 0; index + 1 < flat.length; index += 2)
    headers[flat[index] as string] = flat[index + 1] as string;
  return headers;
}
