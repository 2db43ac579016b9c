import type { ReactNode } from 'react';
import { useParams } from 'wouter';
import { Empty } from '../states.js';

interface ByNumberProps {
  /** What the address is of, for example `A control`. */
  readonly what: string;
  readonly children: (id: number) => ReactNode;
}

/** A page whose address has a number, or what it says about another address. */
export function ByNumber({ what, children }: ByNumberProps) {
  const { id = '' } = useParams<{ id: string }>();
  const number = Number(id);
  if (!Number.isInteger(number) || Math.abs(number) >= 2 ** 31) {
    return <Empty title={`${what} is addressed by its number`} />;
  }
  return children(number);
}
