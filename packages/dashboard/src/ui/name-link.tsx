import { Link } from 'wouter';
import { UserText } from './user-text.js';

interface NameLinkProps {
  readonly href: string;
  /** Chosen by a user. */
  readonly name: string;
  /** Most characters that are shown. */
  readonly max?: number;
}

/** The name of something, which leads to its page. */
export function NameLink({ href, name, ...limit }: NameLinkProps) {
  return (
    <Link href={href}>
      <UserText text={name} {...limit} />
    </Link>
  );
}
