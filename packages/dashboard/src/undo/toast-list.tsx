import { IconArrowBackUp, IconX } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { useRefresh } from '../data/use-change.js';
import { useShortcut } from '../ui/shortcuts/shortcuts.js';
import { dismissToast, runUndo, type Toast } from './undo-store.js';

/** How long a change can be taken back; the time stands still under the pointer and with the focus. */
const OFFERED_MS = 15_000;

/** Changes that can be taken back, and the key of the latest of them. */
export default function ToastList({ toasts }: { readonly toasts: readonly Toast[] }) {
  return (
    <>
      {toasts.map((toast) => (
        <ToastView key={toast.id} toast={toast} />
      ))}
      {toasts.some(({ state }) => state === 'offered') && <UndoKey toasts={toasts} />}
    </>
  );
}

function useUndo() {
  const refresh = useRefresh();
  return (toast: Toast): void => void runUndo(toast).then(() => refresh(toast.change));
}

/** The key of the latest change that can be taken back, as long as there is one. */
function UndoKey({ toasts }: { readonly toasts: readonly Toast[] }) {
  const undo = useUndo();
  useShortcut('z', 'Undo the last change', () => {
    const latest = toasts.findLast(({ state }) => state === 'offered');
    if (latest !== undefined) undo(latest);
  });
  return null;
}

function ToastView({ toast }: { readonly toast: Toast }) {
  const { id, state, text, result } = toast;
  const undo = useUndo();
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld || state === 'running') return;
    const timer = setTimeout(() => dismissToast(id), OFFERED_MS);
    return () => clearTimeout(timer);
  }, [id, state, isHeld]);
  const hold = () => setHeld(true);
  const letGo = () => setHeld(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only its time stands still
    <div className={`toast ${state}`} onMouseEnter={hold} onMouseLeave={letGo} onFocus={hold} onBlur={letGo}>
      <p dir="auto">
        {result?.text ?? text}{' '}
        {result?.href !== undefined && (
          <Link href={result.href} onClick={() => dismissToast(id)}>
            Open it
          </Link>
        )}
      </p>
      {state !== 'done' && (
        <button type="button" disabled={state === 'running'} title="z" onClick={() => undo(toast)}>
          <IconArrowBackUp size={16} aria-hidden="true" />
          {state === 'failed' ? 'Try again' : state === 'running' ? 'Undoing…' : 'Undo'}
        </button>
      )}
      <button type="button" className="icon" aria-label="Dismiss" onClick={() => dismissToast(id)}>
        <IconX size={16} aria-hidden="true" />
      </button>
    </div>
  );
}
