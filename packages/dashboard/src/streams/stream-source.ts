/** A message of a stream, as far as sharing it needs to know. */
export interface StreamStep {
  /** A stream that is opened with it continues after this message. */
  readonly position: bigint;
  /** The message in its binary form. */
  readonly bytes: Uint8Array;
  /** False if the message continues in the next one. */
  readonly isWhole: boolean;
  /** Whether nothing more is known at this time. */
  readonly isCaughtUp: boolean;
}

/** An RPC whose responses several tabs can share. */
export interface StreamSource {
  /**
   * Whether a listener without a position can join at any message. Otherwise the first messages of a stream are a
   * state that the later ones change.
   */
  readonly isJoinable: boolean;
  open(request: Uint8Array, after: bigint | undefined, signal: AbortSignal): AsyncIterable<StreamStep>;
}
