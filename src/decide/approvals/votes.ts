import type { Principal } from '../../contract/call/handler.js';
import { callerName } from '../../contract/call/printed.js';

/** A person as rules of controls know it. */
export interface Person {
  /** Name of the key or of the holder of the token, otherwise the fingerprint of the key. */
  readonly person: string;
  readonly name: string | null;
  readonly role: string | null;
  readonly keyFingerprint: string | null;
}

/** Who asked. */
export interface Requester {
  readonly askedBy: string;
  readonly askedByKey: string | null;
}

/** What votes about a control are counted by. */
export interface VotedControl {
  readonly approvers: readonly string[];
  readonly quorum: number;
  readonly separate: boolean;
  /** Name and fingerprint of the author of its version, as far as they are known. */
  readonly authors: readonly string[];
}

/** The caller as a person; null for callers who cannot be told from each other. */
export function personOf({ name, role, keyFingerprint }: Principal): Person | null {
  const person = name ?? keyFingerprint;
  return person === null ? null : { person, name, role, keyFingerprint };
}

export function requesterOf(principal: Principal): Requester {
  return { askedBy: callerName(principal), askedByKey: principal.keyFingerprint };
}

/** The entries of lists of approvers that a person matches. */
export function entriesOf({ name, role }: Pick<Person, 'name' | 'role'>): readonly string[] {
  return [...(name === null ? [] : [`name:${name}`]), ...(role === null ? [] : [`role:${role}`])];
}

export function isApprover(approvers: readonly string[], person: Pick<Person, 'name' | 'role'>): boolean {
  return entriesOf(person).some((entry) => approvers.includes(entry));
}

/** Number of the people of these approving votes who are approvers of a control. */
export function approvedBy({ approvers }: Pick<VotedControl, 'approvers'>, votes: readonly Person[]): number {
  return new Set(votes.filter((vote) => isApprover(approvers, vote)).map(({ person }) => person)).size;
}

/**
 * Whether these approving votes are enough for every control: the quorum of each, and, if it says so, at least one person among
 * them who neither asked nor wrote its version.
 */
export function isApproved(
  controls: readonly VotedControl[],
  votes: readonly Person[],
  requester: Requester,
): boolean {
  return controls.every((control) => {
    const own = votes.filter((vote) => isApprover(control.approvers, vote));
    if (approvedBy(control, own) < control.quorum) return false;
    return !control.separate || own.some((vote) => isIndependent(vote, control, requester));
  });
}

function isIndependent(
  { person, keyFingerprint }: Person,
  { authors }: Pick<VotedControl, 'authors'>,
  { askedBy, askedByKey }: Requester,
): boolean {
  const marks = keyFingerprint === null ? [person] : [person, keyFingerprint];
  return !marks.some((mark) => mark === askedBy || mark === askedByKey || authors.includes(mark));
}
