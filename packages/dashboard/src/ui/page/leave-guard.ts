import { useEffect, useRef, useState } from 'react';
import type { AroundNavHandler } from 'wouter';

/** A page that does not want to be left without being asked. */
interface LeaveGuard {
  /** Address of the page, without the origin. */
  address(): string;
  /** Keeps a navigation until the answer is there. */
  hold(leave: () => void): void;
}

let activeGuard: LeaveGuard | null = null;

/** Whether the page that is shown would lose something. */
export function hasUnsavedPage(): boolean {
  return activeGuard !== null;
}

/** Lets the page that is shown be left without a question, for example because its drafts are kept. */
export function releasePage(): void {
  activeGuard = null;
}

/** Navigation of the router. A page with unsaved changes is asked before another one is shown. */
export const guardedNavigation: AroundNavHandler = (navigate, to, options) => {
  const isSamePage = pathOf(to) === window.location.pathname;
  if (activeGuard === null || isSamePage) navigate(to, options);
  else activeGuard.hold(() => navigate(to, options));
};

// Steps back and forward have happened when they are told. Listeners of a window are called in the order in which they
// were added: this one comes before that of the router, which thus sees no other address than that of the page.
window.addEventListener('popstate', (event) => {
  if (activeGuard === null) return;
  const address = activeGuard.address();
  if (window.location.pathname === pathOf(address)) return;
  event.stopImmediatePropagation();
  window.history.pushState(null, '', address);
  activeGuard.hold(() => window.history.back());
});

/** A navigation that waits for an answer. */
export interface HeldNavigation {
  /** Whether there is one. */
  readonly isHeld: boolean;
  readonly stay: () => void;
  readonly leave: () => void;
  /** Lets every navigation pass from now on. */
  readonly release: () => void;
}

/** Holds navigations to other pages while `isDirty`, and lets the browser ask before the tab is closed. */
export function useLeaveGuard(isDirty: boolean): HeldNavigation {
  const [held, setHeld] = useState<(() => void) | null>(null);
  const address = useRef('');
  const guard = useRef<LeaveGuard>({ address: () => address.current, hold: (leave) => setHeld(() => leave) });
  useEffect(() => {
    address.current = window.location.pathname + window.location.search;
  });
  useEffect(() => {
    if (!isDirty) return;
    activeGuard = guard.current;
    const onUnload = (event: BeforeUnloadEvent): void => {
      if (activeGuard !== null) event.preventDefault();
    };
    window.addEventListener('beforeunload', onUnload);
    return () => {
      activeGuard = null;
      window.removeEventListener('beforeunload', onUnload);
    };
  }, [isDirty]);
  const release = (): void => {
    activeGuard = null;
    setHeld(null);
  };
  return {
    isHeld: held !== null,
    stay: () => setHeld(null),
    leave: () => {
      release();
      held?.();
    },
    release,
  };
}

function pathOf(address: string): string {
  return new URL(address, window.location.href).pathname;
}
