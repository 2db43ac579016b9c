/** Whose steps a shadow is evaluated for, as far as it is not for all. */
export const SHADOW_SHARES = ['agent', 'session'] as const;
export type ShadowShareBy = (typeof SHADOW_SHARES)[number];

/** What of a shadow is needed to evaluate it. */
export interface ActiveShadow {
  /** Identifies it among all shadows that any control had. */
  readonly id: number;
  readonly namespace: string;
  readonly controlId: number;
  /** JSON text of the definition. */
  readonly data: string;
  /** More than 0 and at most 1. */
  readonly share: number;
  readonly shareBy: ShadowShareBy;
}

/** What was counted of a shadow, in the order of the columns. */
export const SHADOW_COUNTS = [
  'bothMatched',
  'neitherMatched',
  'onlyLiveMatched',
  'onlyShadowMatched',
  'liveFailed',
  'shadowFailed',
  'leftOut',
] as const;
export type ShadowCounts = { [Count in (typeof SHADOW_COUNTS)[number]]: number };

/** A step that only one of the two matched. It has names and ids, and nothing of the content of the step. */
export interface ShadowDifference {
  readonly decisionId: string;
  readonly agentName: string;
  readonly stage: string;
  readonly stepType: string;
  readonly stepName: string;
  readonly shadowMatched: boolean;
  /** What the one that matched says; null if it says nothing. */
  readonly message: string | null;
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

/** Differences that are kept of a shadow: the latest ones. */
export const KEPT_DIFFERENCES = 20;
