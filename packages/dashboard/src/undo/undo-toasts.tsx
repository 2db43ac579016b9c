import { lazy, Suspense, useEffect, useRef } from 'react';
import { dismissAllToasts, useToasts } from './undo-store.js';
import './undo.css';

/** Loaded with the first change: it imports the RPCs of all changes. */
const ToastList = lazy(() => import('./toast-list.js'));

/** The latest changes that can be taken back. They stay while other pages are opened. */
export function UndoToasts() {
  const toasts = useToasts();
  const place = useRef<HTMLElement>(null);
  useEffect(() => dismissAllToasts, []);
  // Above what scrolls and sticks, wherever that is.
  useEffect(() => {
    if (place.current === null) return;
    if (toasts.length > 0) place.current.showPopover();
    else if (place.current.matches(':popover-open')) place.current.hidePopover();
  }, [toasts.length]);
  return (
    <section ref={place} popover="manual" className="toasts" aria-label="Undo">
      <div aria-live="polite">
        {toasts.length > 0 && (
          <Suspense>
            <ToastList toasts={toasts} />
          </Suspense>
        )}
      </div>
    </section>
  );
}
