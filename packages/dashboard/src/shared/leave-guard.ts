import { useEffect, useRef, useState } from 'react';
import type { AroundNavHandler } from 'wouter';

type LeaveGuard = (leave: () => void) => void;

let activeGuard: LeaveGuard | null = null;

/** Navigation of the router. A page with unsaved changes is asked before another one is shown. */
export const guardedNavigation: AroundNavHandler = (navigate, to, options) => {
  const isSamePage = new URL(to, window.location.href).pathname === window.location.pathname;
  if (activeGuard === null || isSamePage) navigate(to, options);
  else activeGuard(() => navigate(to, options));
};

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
  const isReleased = useRef(false);
  const address = useRef('');
  useEffect(() => {
    address.current = window.location.pathname + window.location.search;
  });
  useEffect(() => {
    if (!isDirty) return;
    isReleased.current = false;
    const hold: LeaveGuard = (leave) => (isReleased.current ? leave() : setHeld(() => leave));
    const onUnload = (event: BeforeUnloadEvent): void => {
      if (!isReleased.current) event.preventDefault();
    };
    const onHistory = (event: PopStateEvent): void => {
      if (isReleased.current || window.location.pathname === pathOf(address.current)) return;
      // The router must not see the other address.
      event.stopImmediatePropagation();
      window.history.pushState(null, '', address.current);
      hold(() => window.history.back());
    };
    activeGuard = hold;
    window.addEventListener('beforeunload', onUnload);
    window.addEventListener('popstate', onHistory, { capture: true });
    return () => {
      activeGuard = null;
      window.removeEventListener('beforeunload', onUnload);
      window.removeEventListener('popstate', onHistory, { capture: true });
    };
  }, [isDirty]);
  const release = (): void => {
    isReleased.current = true;
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
