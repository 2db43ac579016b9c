import { apiBase } from '../data/rest-address.js';
import { useSession } from '../session/session-context.js';
import type { CalledService } from './snippet-texts.js';

/** The service of this page, for texts that call it. */
export function useCalledService(): CalledService {
  const { state } = useSession();
  return {
    origin: window.location.origin,
    apiBase,
    keysRequired: state.kind === 'ready' && state.keysRequired,
  };
}
