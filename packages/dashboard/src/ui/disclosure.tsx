import { type ReactNode, useState } from 'react';

interface DisclosureProps {
  readonly summary: string;
  readonly isOpenAtFirst?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Content that is only drawn while it is open, because drawing or loading it is expensive. */
export function Disclosure({ summary, isOpenAtFirst = false, className, children }: DisclosureProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  return (
    <details className={className} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && children}
    </details>
  );
}
