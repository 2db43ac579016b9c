import type { ReactNode } from 'react';
import { useTitle } from './use-title.js';

interface PageProps {
  readonly title: string;
  readonly heading?: ReactNode;
  /** Shown beside the heading. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, heading, actions, children }: PageProps) {
  useTitle(title);
  return (
    <>
      <div className="page-head">
        <h1>{heading ?? title}</h1>
        {actions}
      </div>
      {children}
    </>
  );
}
