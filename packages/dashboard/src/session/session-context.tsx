import { createClient } from '@connectrpc/connect';
import { ServerService } from '@gen/enforcement/v1/server_service_pb.js';
import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react';
import { onSessionChange } from '../data/session-news.js';
import { readSessionConfig } from '../data/session-requests.js';
import { SIGNED_OUT_EVENT, transport } from '../data/transport.js';
import { forgetPages } from '../ui/page/recent-pages-store.js';

export type SessionState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'signed-out' }
  | {
      readonly kind: 'ready';
      /** False if the server requires no keys; then everyone may change everything. */
      readonly keysRequired: boolean;
      readonly isAdmin: boolean;
      /** The agents that the caller is limited to, names or patterns; absent for all. */
      readonly onlyAgents?: readonly string[];
    };

interface SessionAccess {
  readonly state: SessionState;
  /** Asks the server again. */
  readonly reload: () => void;
}

const SessionContext = createContext<SessionAccess>({ state: { kind: 'loading' }, reload: () => {} });
const server = createClient(ServerService, transport);

export function SessionProvider({ children }: { readonly children: ReactNode }) {
  const [state, setState] = useState<SessionState>({ kind: 'loading' });
  const queries = useQueryClient();
  /** Data of one caller must not be shown to the next one. */
  const forget = useCallback(() => {
    queries.clear();
    forgetPages();
  }, [queries]);
  const reload = useCallback(() => {
    readSession().then(
      (next) => {
        if (next.kind !== 'ready') forget();
        setState(next);
      },
      (error: unknown) => setState({ kind: 'failed', error }),
    );
  }, [forget]);
  useEffect(() => {
    reload();
    const onSignedOut = () => {
      forget();
      setState({ kind: 'signed-out' });
    };
    window.addEventListener(SIGNED_OUT_EVENT, onSignedOut);
    const end = onSessionChange(() => {
      queries.clear();
      // What is shown belongs to the session before.
      setState({ kind: 'loading' });
      reload();
    });
    return () => {
      window.removeEventListener(SIGNED_OUT_EVENT, onSignedOut);
      end();
    };
  }, [queries, forget, reload]);
  const value = useMemo(() => ({ state, reload }), [state, reload]);
  return <SessionContext value={value}>{children}</SessionContext>;
}

export function useSession(): SessionAccess {
  return useContext(SessionContext);
}

/** Whether actions that require an admin key are offered. The server checks each call in any case. */
export function useIsAdmin(): boolean {
  const { state } = useSession();
  return state.kind === 'ready' && state.isAdmin;
}

async function readSession(): Promise<SessionState> {
  const config = await readSessionConfig();
  if (!config.requires_api_key) return { kind: 'ready', keysRequired: false, isAdmin: true };
  if (!config.has_active_session) return { kind: 'signed-out' };
  const { isAdmin, isLimitedToAgents, agents } = await server.getServerInfo({});
  return { kind: 'ready', keysRequired: true, isAdmin, ...(isLimitedToAgents ? { onlyAgents: agents } : {}) };
}
