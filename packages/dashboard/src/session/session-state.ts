import { createClient } from '@connectrpc/connect';
import { ServerService } from '@gen/enforcement/v1/server_service_pb.js';
import { readSessionConfig } from '../data/session-requests.js';
import { transport } from '../data/transport.js';

export type SessionState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'signed-out' }
  | ReadySession;

export interface ReadySession {
  readonly kind: 'ready';
  /** False if the server requires no keys; then everyone may change everything. */
  readonly keysRequired: boolean;
  readonly isAdmin: boolean;
  /** Identifies the caller over all of its sessions: what is kept for one owner is not shown to another. */
  readonly owner: string;
  /** Name of the caller. */
  readonly name?: string;
  /** The agents that the caller is limited to, names or patterns; absent for all. */
  readonly onlyAgents?: readonly string[];
}

/** Why a session is over while its page is still there: the server refuses it, or it was signed out in another tab. */
export type SessionEnd = 'refused' | 'elsewhere';

const NOBODY = 'without a key';
const server = createClient(ServerService, transport);

/** Asks the server who is signed in. */
export async function readSession(): Promise<SessionState> {
  const config = await readSessionConfig();
  if (!config.requires_api_key) return { kind: 'ready', keysRequired: false, isAdmin: true, owner: NOBODY };
  if (!config.has_active_session) return { kind: 'signed-out' };
  const info = await server.getServerInfo({});
  const { isAdmin, callerFingerprint = NOBODY, callerName, isLimitedToAgents, agents } = info;
  return {
    kind: 'ready',
    keysRequired: true,
    isAdmin,
    owner: callerFingerprint,
    ...(callerName === undefined ? {} : { name: callerName }),
    ...(isLimitedToAgents ? { onlyAgents: agents } : {}),
  };
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
