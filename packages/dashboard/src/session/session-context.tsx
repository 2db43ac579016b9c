import { useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { dashboardPath } from '../data/rest-address.js';
import { onSessionChange } from '../data/session-news.js';
import { SIGNED_OUT_EVENT } from '../data/transport.js';
import { storeFor } from '../ui/browser/owned-storage.js';
import { hasUnsavedPage, releasePage } from '../ui/page/leave-guard.js';
import { forgetPages } from '../ui/page/recent-pages-store.js';
import { forgetRange } from '../ui/range/use-range.js';
import type { Scope } from './scopes.js';
import { isStillSignedIn, readSession, type SessionEnd, type SessionState } from './session-state.js';

interface SessionAccess {
  readonly state: SessionState;
  /** Why the session of the page that is shown is over; null while it is not. */
  readonly ended: SessionEnd | null;
  /** Asks the server again. */
  readonly reload: () => void;
  /** Leaves the page of a session that is over. */
  readonly leave: () => void;
}

const NOTHING = () => {};
const SessionContext = createContext<SessionAccess>({
  state: { kind: 'loading' },
  ended: null,
  reload: NOTHING,
  leave: NOTHING,
});

/**
 * Knows who is signed in. When a session ends, its page stays, with all that was written in it, until the same caller
 * signs in again over it; for another one, everything is loaded anew.
 */
export function SessionProvider({ children }: { readonly children: ReactNode }) {
  const [state, setState] = useState<SessionState>({ kind: 'loading' });
  const [ended, setEnded] = useState<SessionEnd | null>(null);
  const queries = useQueryClient();
  const shown = useRef(state);
  /** The namespace that this page was loaded for; its streams are shared with tabs of the same one. */
  const loadedFor = useRef<string>(undefined);
  const take = useCallback((next: SessionState) => {
    shown.current = next;
    if (next.kind === 'ready') {
      storeFor(next.owner);
      loadedFor.current = next.namespace;
    }
    setState(next);
    setEnded(null);
  }, []);
  /** Data of one caller must not be shown to the next one. */
  const leave = useCallback(() => {
    releasePage();
    queries.clear();
    forgetPages();
    forgetRange();
    take({ kind: 'signed-out' });
  }, [queries, take]);
  const reload = useCallback(() => {
    const before = shown.current;
    readSession().then(
      (next) => {
        if (next.kind !== 'ready') leave();
        else if ((loadedFor.current ?? next.namespace) !== next.namespace) openHome();
        else if (before.kind === 'ready' && before.owner !== next.owner) reloadPage();
        else {
          take(next);
          // What was refused in the meantime is asked for again.
          if (before.kind === 'ready') void queries.invalidateQueries();
        }
      },
      (error: unknown) => {
        // A page that is there stays; its calls say what is wrong.
        if (before.kind !== 'ready') take({ kind: 'failed', error });
      },
    );
  }, [queries, leave, take]);
  useEffect(() => {
    reload();
    const end = (reason: SessionEnd): void => {
      if (shown.current.kind !== 'ready') {
        leave();
        return;
      }
      forgetPages();
      // A stream can be refused before the other tab says that it signed out.
      setEnded((before) => (reason === 'elsewhere' ? reason : (before ?? reason)));
    };
    // An answer to a call from before the last sign-in says nothing of the session of now.
    const onSignedOut = () => {
      void isStillSignedIn().then((isSignedIn) => {
        if (!isSignedIn) end('refused');
      });
    };
    const onChange = () => {
      void isStillSignedIn().then((isSignedIn) => {
        if (isSignedIn) reload();
        else if (hasUnsavedPage()) end('elsewhere');
        else leave();
      });
    };
    window.addEventListener(SIGNED_OUT_EVENT, onSignedOut);
    const endNews = onSessionChange(onChange);
    return () => {
      window.removeEventListener(SIGNED_OUT_EVENT, onSignedOut);
      endNews();
    };
  }, [leave, reload]);
  const value = useMemo(() => ({ state, ended, reload, leave }), [state, ended, reload, leave]);
  return <SessionContext value={value}>{children}</SessionContext>;
}

function reloadPage(): void {
  releasePage();
  window.location.reload();
}

/** For another namespace: nothing that an address names is there. */
export function openHome(): void {
  releasePage();
  window.location.assign(`${dashboardPath}/`);
}

export function useSession(): SessionAccess {
  return useContext(SessionContext);
}

/** Whether what needs a scope is offered. The server checks each call in any case. */
export function useMay(scope: Scope): boolean {
  const { state } = useSession();
  return state.kind === 'ready' && (state.scopes === 'all' || state.scopes.has(scope));
}

/** Whether the caller is limited to agents: it may list nothing that concerns others. */
export function useIsLimited(): boolean {
  const { state } = useSession();
  return state.kind === 'ready' && state.onlyAgents !== undefined;
}
