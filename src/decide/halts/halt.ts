import type { Namespace } from '../../contract/call/namespace.js';
import { type Column, columns, nullable, number, type ReadRow, text } from '../../storage/database/rows.js';

/** Which steps a halt denies. */
export const HALT_SCOPES = ['step_name', 'session', 'agent', 'namespace', 'installation'] as const;
export type HaltScope = (typeof HALT_SCOPES)[number];

/** The namespace of halts of the installation. No namespace has this name. */
export const INSTALLATION = '';

export const ACTIVE = columns({
  id: number,
  /** Name of the namespace; empty for a halt of the installation. */
  namespace: text,
  scope: text as Column<HaltScope>,
  /** Normalised. With the scopes agent and session; with step_name if it concerns one agent only. */
  agentName: nullable(text),
  sessionId: nullable(text),
  stepName: nullable(text),
  reason: text,
  /** Milliseconds since 1970; null if it lasts until it is lifted. */
  expiresAtMs: nullable(number),
});

/** A halt that is in force unless its time is over. */
export type ActiveHalt = ReadRow<typeof ACTIVE>;

/** A halt as those see it whose step it denied. */
export interface HaltNotice {
  readonly haltId: number;
  readonly reason: string;
  /** Milliseconds since 1970; null if it lasts until it is lifted. */
  readonly expiresAtMs: number | null;
}

/** What a halt can deny. */
export interface HaltableStep {
  readonly namespace: Namespace;
  /** Normalised. */
  readonly agentName: string;
  readonly sessionId: string | undefined;
  readonly stepName: string;
}

/** Finds the halt that denies a step. */
export interface HaltCheck {
  /** Whether no halt at all is in force: then no step need be looked up. */
  readonly isEmpty: boolean;
  /** Fulfilled when the changes of which this process knows are in force; null if they are. Never rejects. */
  readonly reading: Promise<void> | null;
  /** The halt of a step, the one with the widest scope first; null without one. */
  of(step: HaltableStep): ActiveHalt | null;
}

export function noticeOf({ id, reason, expiresAtMs }: ActiveHalt): HaltNotice {
  return { haltId: id, reason, expiresAtMs };
}

/** What a halt denies, for people: `agent "billing-bot-01"`. */
export function haltedPart({
  scope,
  agentName,
  sessionId,
  stepName,
}: Omit<ActiveHalt, 'reason' | 'id'>): string {
  const ofAgent = agentName === null ? '' : ` of agent "${agentName}"`;
  if (scope === 'agent') return `agent "${agentName}"`;
  if (scope === 'session') return `session "${sessionId}"${ofAgent}`;
  if (scope === 'step_name') return `step name "${stepName}"${ofAgent}`;
  return scope === 'namespace' ? 'the namespace' : 'the installation';
}

/** The reason of the verdict about a step that a halt denies. */
export function haltSentence(halt: ActiveHalt): string {
  return `halt ${halt.id} of ${haltedPart(halt)}: ${halt.reason}`;
}
