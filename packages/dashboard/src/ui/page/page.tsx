import { type ReactNode, useEffect, useRef } from 'react';
import { useLocation, useSearch } from 'wouter';
import { rememberPage } from './recent-pages-store.js';
import { useTitle } from './use-title.js';

interface PageProps {
  readonly title: string;
  readonly heading?: ReactNode;
  /** Shown beside the heading. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** Path of the page that was shown last. */
let shownPath: string | undefined;

/** The next page is the first one, as after a reload: its heading does not get the focus. */
export function forgetShownPage(): void {
  shownPath = undefined;
}

/** A page with its heading, which gets the focus when the page is opened from another one. */
export function Page({ title, heading, actions, children }: PageProps) {
  const [path] = useLocation();
  const search = useSearch();
  const headingElement = useRef<HTMLHeadingElement>(null);
  useTitle(title);
  useEffect(() => {
    if (shownPath !== undefined && shownPath !== path) headingElement.current?.focus();
    shownPath = path;
  }, [path]);
  const traceId = path === '/traces' ? new URLSearchParams(search).get('id') : null;
  useEffect(() => {
    if (traceId === null) rememberPage({ href: path, title });
    else rememberPage({ href: `/traces?id=${encodeURIComponent(traceId)}`, title });
  }, [path, title, traceId]);
  return (
    <>
      <div className="page-head">
        <h1 ref={headingElement} tabIndex={-1}>
          {heading ?? title}
        </h1>
        {actions}
      </div>
      {children}
    </>
  );
}
