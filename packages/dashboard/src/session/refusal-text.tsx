import { useSession } from './session-context.js';
import { roleText } from './session-state.js';

/** Below a refusal: what the caller is, and who can change it. Nothing without keys. */
export function RefusedCaller() {
  const { state } = useSession();
  if (state.kind !== 'ready' || state.scopes === 'all') return null;
  return (
    <p className="muted">
      The role of this session is “{roleText(state)}”, in the namespace “{state.namespaceTitle}”. An admin of
      the namespace makes keys that can do more.
    </p>
  );
}
