import type { JsonValue } from '@bufbuild/protobuf';

/** A draft with its content. */
export interface Draft {
  readonly place: string;
  /** What people call it, for example `Edit no-card-numbers`. */
  readonly title: string;
  /** Time since 1970 in milliseconds. */
  readonly savedAt: number;
  readonly value: JsonValue;
}
