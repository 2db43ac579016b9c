/** Headers or trailers of a reply, by their names in lower case. */
export type ReplyFields = Record<string, string>;

/** The whole reply to a call that is answered at once. */
export interface Reply {
  /** Status of HTTP. */
  readonly status: number;
  readonly headers: ReplyFields;
  /** Undefined for a reply of headers alone. */
  readonly body: Buffer | undefined;
  /** Trailers of HTTP, only over HTTP/2. */
  readonly trailers?: ReplyFields;
}

/** Calls `add` with the name, in lower case, and the value of everything that a call reports besides its result. */
export interface Noted {
  notes(add: (name: string, value: string) => void): void;
}

/** Adds what a call reports to headers or trailers, behind a prefix. */
export function addNotes(fields: ReplyFields, call: Noted, prefix = ''): ReplyFields {
  call.notes((name, value) => {
    fields[prefix + name] = value;
  });
  return fields;
}

/**
 * Largest message of a reply, in bytes, where requests may have `maxMessageBytes`. Replies are built from stored data,
 * which is bounded; the limit is a safety net.
 */
export function maxReplyBytes(maxMessageBytes: number): number {
  return 4 * maxMessageBytes;
}
