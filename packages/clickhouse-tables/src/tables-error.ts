/** Why something could not be done with the tables. The cause is the error of the client, if there is one. */
export class TablesError extends Error {
  constructor(
    message: string,
    /** Whether an insert may have had its effect, or may still have it: there was no answer. */
    readonly effect: 'none' | 'unknown' = 'none',
    cause?: unknown,
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.name = 'TablesError';
  }
}
