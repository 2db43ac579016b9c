import type { TargetName } from './namespace.js';

/** What the rights of a caller follow from, if it is neither its own key nor its session. */
export interface Grant {
  /** Whether that still gives the same rights. Asked whenever keys change, and when a call starts to last. */
  holds(): boolean;
  /** Present if another service made the grant, which calls that last ask again. */
  readonly renewal?: {
    /** Between two questions, in milliseconds. */
    readonly everyMs: number;
    /** Resolves if the grant still holds. Rejects with the error of the call. */
    ask(): Promise<void>;
  };
  /**
   * Asks whether the caller may evaluate for a target, if that is not known; undefined if it may. Rejects, or throws, with
   * the error of the evaluation.
   */
  askTarget?(target: TargetName): Promise<void> | undefined;
}
