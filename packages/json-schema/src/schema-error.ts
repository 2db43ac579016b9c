/** Why a schema is rejected. */
export type Rejection = 'invalid' | 'unsupported';

/** Why a schema is rejected, or a value cannot be checked against it. The message completes "the schema …". */
export class SchemaError extends Error {
  readonly rejection: Rejection;
  /** The same as an explanation on its own. */
  readonly detail: string;

  constructor(message: string, rejection: Rejection = 'invalid', detail = `it ${message}`) {
    super(message);
    this.rejection = rejection;
    this.detail = detail;
  }
}
