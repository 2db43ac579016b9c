import { ServerService } from '@gen/enforcement/v1/server_service_pb.js';
import { roleNamed, scopesOf } from '../../../../src/contract/call/scopes.js';
import type { Backend } from './render-page.js';

/** Who is signed in, for callers that a role alone does not tell. */
export interface Caller {
  readonly name?: string;
  /** Absent for a key that lists its scopes itself. */
  readonly role?: string;
  /** By default those of the role. */
  readonly scopes?: readonly string[];
  /** Names and patterns of the agents that the caller is limited to. */
  readonly agents?: readonly string[];
  readonly namespace?: string;
  readonly namespaceDisplayName?: string;
  readonly namespaces?: readonly string[];
}

/** What the caller may do, by its role or its own list. */
export function scopesOfCaller({ role = '', scopes }: Caller): readonly string[] {
  return scopes ?? scopesOf(roleNamed(role)?.scopes ?? 0n);
}

/** Has the server say that this caller is signed in. */
export function signedInAs(caller: Caller): Backend {
  const { name, role, agents, namespace = 'default', namespaces = [namespace] } = caller;
  return ({ rpc }) => {
    rpc(ServerService.method.getServerInfo, () => ({
      version: '1.2.3',
      revision: 7n,
      namespace,
      namespaceDisplayName: caller.namespaceDisplayName ?? namespace,
      namespaces: [...namespaces],
      state: { databaseUp: true, eventsEnabled: true, recordedResults: 'all' },
      isAdmin: role === 'admin' || role === 'operator',
      callerFingerprint: `fingerprint of ${name ?? role}`,
      scopes: [...scopesOfCaller(caller)],
      ...(name === undefined ? {} : { callerName: name }),
      ...(role === undefined ? {} : { role }),
      ...(agents === undefined ? {} : { isLimitedToAgents: true, agents: [...agents] }),
    }));
  };
}
