/** A stream that a tab needs. */
export interface Want {
  /** Unique within the tab. */
  readonly subscription: number;
  readonly source: string;
  /** The request without a position, in its binary form. */
  readonly request: Uint8Array;
  /** The tab has everything up to this position. */
  readonly after: bigint | undefined;
}

/** A failed stream, in a form that can be sent to another tab. */
export interface StreamFailure {
  /** A code of gRPC. */
  readonly code: number;
  readonly message: string;
}

/** What tabs tell the leader. A tab that needs no stream anymore has an empty list. */
export type TabLetter =
  | { readonly kind: 'want'; readonly tab: string; readonly wants: readonly Want[] }
  | {
      readonly kind: 'taken';
      readonly tab: string;
      readonly subscription: number;
      /** Messages that were processed since the last such letter. */
      readonly count: number;
    };

/** What the leader tells a tab about one of its subscriptions. */
export type NewsLetter = { readonly leader: string; readonly subscription: number } & (
  | { readonly kind: 'attached'; readonly position: bigint | undefined; readonly isLive: boolean }
  | { readonly kind: 'message'; readonly bytes: Uint8Array }
  | { readonly kind: 'lost'; readonly failure: StreamFailure }
  /** The tab processes messages too slowly; it subscribes again when it has processed those before this one. */
  | { readonly kind: 'dropped' }
);

/** The letters between the tabs of a browser. `lead` asks all tabs what they need. */
export type Letter = TabLetter | NewsLetter | { readonly kind: 'lead'; readonly leader: string };
