import type { ConnectError } from '@connectrpc/connect';
import type { Grant } from '../../contract/call/grant.js';
import type { Principal } from '../../contract/call/handler.js';
import { draining } from '../../contract/errors/draining.js';
import { unknownNamespace } from '../../contract/errors/unknown-namespace.js';
import type { KnownNamespaces } from '../auth/browser-sessions.js';
import { endedSession, expiredToken, withdrawnKey } from '../auth/credential-errors.js';
import type { KeyRing } from '../auth/key-ring.js';
import type { EndedSessions } from '../sessions/ended-sessions.js';
import { toConnectError } from '../wire/error-status.js';
import type { DueTimes } from './due-times.js';
import { renewing } from './grant-renewal.js';

/** The namespaces that exist, and what changes them. */
export interface WatchedNamespaces extends KnownNamespaces {
  onChange(listener: () => void): void;
}

/** The running calls that end when their key is withdrawn, or their token expires. */
export interface Withdrawals {
  /**
   * Calls `end` once with the error of the call when the key or the session of a principal is no longer valid
   * (UNAUTHENTICATED), or its key has other rights (UNAVAILABLE: its client can call again at once); at the time when a
   * token expires (UNAUTHENTICATED); and when its namespace is deleted (PERMISSION_DENIED). Returns a function that prevents it.
   */
  watch(principal: Principal, end: (reason: ConnectError) => void): () => void;
}

interface Watched {
  readonly principal: Principal;
  readonly end: (reason: ConnectError) => void;
}

const OTHER_RIGHTS = 'The rights of its key have changed. Call again.';

/** Watches the keys of a ring, the expiry of tokens, the ends of sessions, and the deletion of namespaces. */
export function createWithdrawals(
  keyRing: Pick<KeyRing, 'onChange' | 'isCurrent' | 'byFingerprint'>,
  due: Pick<DueTimes, 'after'>,
  endedSessions: Pick<EndedSessions, 'watch'>,
  namespaces: WatchedNamespaces,
): Withdrawals {
  const watched = new Set<Watched>();
  const isCurrent = (principal: Principal): boolean =>
    principal.grant === undefined ? keyRing.isCurrent(principal) : principal.grant.holds();
  function withdraw(one: Watched): void {
    watched.delete(one);
    const isValid = keyRing.byFingerprint(one.principal.keyFingerprint ?? '') !== undefined;
    one.end(toConnectError(isValid ? draining(OTHER_RIGHTS) : withdrawnKey()));
  }
  keyRing.onChange(() => {
    for (const one of watched) if (!isCurrent(one.principal)) withdraw(one);
  });
  /** Rights that follow from others: until those change, the grant expires, or the service that made it takes it back. */
  function watchGrant(principal: Principal, grant: Grant, end: (reason: ConnectError) => void): () => void {
    const forgets: (() => void)[] = [];
    let isOver = false;
    const forget = (): void => {
      isOver = true;
      for (const one of forgets) one();
    };
    const over = (reason: ConnectError): void => {
      if (isOver) return;
      forget();
      end(reason);
    };
    const { expiresAtMs } = principal;
    if (expiresAtMs !== undefined)
      forgets.push(due.after(expiresAtMs - Date.now(), () => over(toConnectError(expiredToken()))));
    const one: Watched = { principal, end: over };
    watched.add(one);
    forgets.push(() => watched.delete(one));
    if (grant.renewal !== undefined) forgets.push(renewing(grant.renewal, due, over));
    if (!grant.holds()) withdraw(one);
    return forget;
  }
  function watchRights(principal: Principal, end: (reason: ConnectError) => void): () => void {
    const { expiresAtMs, grant } = principal;
    if (grant !== undefined) return watchGrant(principal, grant, end);
    if (expiresAtMs !== undefined)
      return due.after(expiresAtMs - Date.now(), () => end(toConnectError(expiredToken())));
    const one: Watched = { principal, end };
    watched.add(one);
    // It may have been withdrawn since the call entered.
    if (!keyRing.isCurrent(principal)) withdraw(one);
    return () => watched.delete(one);
  }
  /** The calls of other namespaces than the one that always exists. */
  const inNamespaces = new Set<Watched>();
  function endWithNamespace(one: Watched): void {
    const { namespace } = one.principal;
    if (namespaces.known(namespace.name)) return;
    inNamespaces.delete(one);
    one.end(toConnectError(unknownNamespace(namespace.name)));
  }
  namespaces.onChange(() => {
    for (const one of inNamespaces) endWithNamespace(one);
  });
  function watchNamespace(principal: Principal, end: (reason: ConnectError) => void): () => void {
    if (principal.namespace.isDefault) return () => {};
    const one: Watched = { principal, end };
    inNamespaces.add(one);
    // It may have been deleted since the call entered.
    endWithNamespace(one);
    return () => inNamespaces.delete(one);
  }
  return {
    watch(principal, end) {
      const { sessionId } = principal;
      const forgetKey = watchRights(principal, end);
      const forgetNamespace = watchNamespace(principal, end);
      const forgetRights = (): void => {
        forgetKey();
        forgetNamespace();
      };
      if (sessionId === undefined) return forgetRights;
      const forgetSession = endedSessions.watch(sessionId, () => {
        forgetRights();
        end(toConnectError(endedSession()));
      });
      return () => {
        forgetRights();
        forgetSession();
      };
    },
  };
}
