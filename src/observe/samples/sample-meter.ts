/** Why a step that was chosen is not kept. */
export type SampleLoss = 'too_large' | 'queue_full' | 'masking' | 'storage';

/** Receives what happens with samples in this process. */
export interface SampleMeter {
  /** Samples that were written. */
  stored(count: number): void;
  /** Steps that a rule chose, and that are not kept. */
  lost(reason: SampleLoss, count: number): void;
  /** Samples of all namespaces. */
  counted(samples: number): void;
}
