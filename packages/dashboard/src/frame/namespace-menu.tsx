import { lazy, Suspense } from 'react';
import { useSession } from '../session/session-context.js';
import { DEFAULT_NAMESPACE } from '../session/session-state.js';
import { Popover } from '../ui/popover/popover.js';
import { UserText } from '../ui/user-text.js';

const NamespaceChoice = lazy(() => import('./namespace-choice.js'));
const MAX_NAME = 24;

/** The namespace of the session, and a way to another one for those who have several. Nothing in `default` alone. */
export function NamespaceMenu() {
  const { state } = useSession();
  if (state.kind !== 'ready') return null;
  const { namespace, namespaceTitle, namespaces } = state;
  const title = <UserText text={namespaceTitle} max={MAX_NAME} />;
  if (namespaces.length > 1) {
    return (
      <Popover
        label="Switch to another namespace"
        buttonLabel={`Namespace: ${namespaceTitle}`}
        button={title}
        className="namespace"
      >
        {(close) => (
          <Suspense fallback="Loading…">
            <NamespaceChoice current={namespace} namespaces={namespaces} onClose={close} />
          </Suspense>
        )}
      </Popover>
    );
  }
  if (namespace === DEFAULT_NAMESPACE) return null;
  return (
    <span className="namespace tag" title={`Namespace ${namespace}`}>
      <span className="visually-hidden">Namespace: </span>
      {title}
    </span>
  );
}
