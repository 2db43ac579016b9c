import { createClient } from '@connectrpc/connect';
import { ServerService } from '@gen/enforcement/v1/server_service_pb.js';
import { readSessionConfig } from '../data/session-requests.js';
import { transport } from '../data/transport.js';
import { ownerIn } from '../ui/browser/owner.js';
import { usableScopes } from './scopes.js';

export type SessionState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'signed-out' }
  | ReadySession;

export interface ReadySession {
  readonly kind: 'ready';
  /** False if the server requires no keys; then everyone may change everything. */
  readonly keysRequired: boolean;
  /** The scopes that the caller can use; `all` without keys. */
  readonly scopes: ReadonlySet<string> | 'all';
  /** Absent if the key lists its scopes itself. */
  readonly role?: string;
  readonly namespace: string;
  /** Name of the namespace as it is shown. */
  readonly namespaceTitle: string;
  /** The namespaces that the session can work in, sorted. */
  readonly namespaces: readonly string[];
  /** Identifies the caller over all of its sessions. */
  readonly caller: string;
  /** Identifies the caller in its namespace: what is kept for one owner is not shown to another. */
  readonly owner: string;
  /** Name of the caller. */
  readonly name?: string;
  /** The agents that the caller is limited to, names or patterns; absent for all. */
  readonly onlyAgents?: readonly string[];
}

/** Why a session is over while its page is still there: the server refuses it, or it was signed out in another tab. */
export type SessionEnd = 'refused' | 'elsewhere';

const ANONYMOUS = 'without a key';
export const DEFAULT_NAMESPACE = 'default';
const server = createClient(ServerService, transport);

/** Asks the server who is signed in. */
export async function readSession(): Promise<SessionState> {
  const config = await readSessionConfig();
  if (!config.requires_api_key) return WITHOUT_KEYS;
  if (!config.has_active_session) return { kind: 'signed-out' };
  const info = await server.getServerInfo({});
  const { callerFingerprint: caller = ANONYMOUS, callerName, isLimitedToAgents, agents } = info;
  // A server of an earlier version has one namespace, and tells no role.
  const namespace = info.namespace || DEFAULT_NAMESPACE;
  const role = info.role ?? (info.scopes.length > 0 ? undefined : info.isAdmin ? 'admin' : 'regular');
  return {
    kind: 'ready',
    keysRequired: true,
    scopes: usableScopes(info),
    ...(role === undefined ? {} : { role }),
    namespace,
    namespaceTitle: info.namespaceDisplayName || namespace,
    namespaces: info.namespaces.length > 0 ? info.namespaces : [namespace],
    caller,
    owner: ownerIn(namespace, caller),
    ...(callerName === undefined ? {} : { name: callerName }),
    ...(isLimitedToAgents ? { onlyAgents: agents } : {}),
  };
}

const WITHOUT_KEYS: ReadySession = {
  kind: 'ready',
  keysRequired: false,
  scopes: 'all',
  namespace: DEFAULT_NAMESPACE,
  namespaceTitle: DEFAULT_NAMESPACE,
  namespaces: [DEFAULT_NAMESPACE],
  caller: ANONYMOUS,
  owner: ANONYMOUS,
};

/** The role of a caller in words. */
export function roleText({ role }: Pick<ReadySession, 'role'>): string {
  if (role === undefined) return 'its own scopes';
  return role === 'regular' ? 'regular key' : role;
}

/** Whether the server still takes the session. True if it does not answer: then nothing is known. */
export async function isStillSignedIn(): Promise<boolean> {
  try {
    const config = await readSessionConfig();
    return config.has_active_session || !config.requires_api_key;
  } catch {
    return true;
  }
}
