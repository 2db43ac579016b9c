/** Receives what happens with approvals in this process. */
export interface ApprovalMeter {
  /** A step was asked about for the first time. */
  asked(result: 'waits' | 'refused' | 'approved'): void;
  /** An approval was approved, denied, cancelled, or has expired. */
  ended(state: 'approved' | 'denied' | 'cancelled' | 'expired', count: number): void;
  used(): void;
  /** Open approvals of all namespaces. */
  counted(open: number): void;
}
