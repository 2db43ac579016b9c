import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { CreateSamplingRuleRequestSchema } from '@gen/enforcement/v1/sample_service_pb.js';

/** Whose steps a rule keeps. */
export type RuleScope = 'namespace' | 'agent' | 'control';

/** What the form of a new rule has, as it is written. */
export interface RuleDraft {
  readonly scope: RuleScope;
  readonly agentName: string;
  /** Percent of the steps. */
  readonly share: string;
  /** A path in each line. */
  readonly maskedPaths: string;
  /** A pattern in each line; spaces count. */
  readonly maskedPatterns: string;
  readonly maxBytes: string;
  readonly retentionHours: string;
  /** Hours from now; empty for a rule without an end. */
  readonly endsAfter: string;
}

/** A rule for the agent, or for all if it is blank. */
export function newRuleDraft(agentName: string): RuleDraft {
  return {
    scope: agentName === '' ? 'namespace' : 'agent',
    agentName,
    share: '1',
    maskedPaths: '',
    maskedPatterns: '',
    maxBytes: '16384',
    retentionHours: '168',
    endsAfter: '',
  };
}

export const SIZES = [
  ['4096', '4 KiB'],
  ['16384', '16 KiB'],
  ['65536', '64 KiB'],
  ['262144', '256 KiB'],
] as const;
export const RETENTIONS = [
  ['24', 'a day'],
  ['72', '3 days'],
  ['168', '7 days'],
  ['720', '30 days'],
] as const;
export const ENDS = [
  ['', 'when it is deleted'],
  ['24', 'in a day'],
  ['168', 'in 7 days'],
  ['720', 'in 30 days'],
] as const;

/** The request for a rule. `controlId`: the chosen control, if there is one. `nowMs`: milliseconds since 1970. */
export function ruleRequest(
  draft: RuleDraft,
  controlId: number | undefined,
  nowMs: number,
): MessageInitShape<typeof CreateSamplingRuleRequestSchema> {
  const agentName = draft.agentName.trim();
  return {
    ...(draft.scope === 'namespace' || agentName === '' ? {} : { agentName }),
    ...(draft.scope === 'control' && controlId !== undefined ? { controlId } : {}),
    share: Number(draft.share) / 100,
    maskedPaths: linesOf(draft.maskedPaths).map((path) => path.trim()),
    maskedPatterns: linesOf(draft.maskedPatterns),
    maxBytes: Number(draft.maxBytes),
    retentionHours: Number(draft.retentionHours),
    ...(draft.endsAfter === ''
      ? {}
      : { endsAt: timestampFromMs(nowMs + Number(draft.endsAfter) * 3_600_000) }),
  };
}

function linesOf(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== '');
}
