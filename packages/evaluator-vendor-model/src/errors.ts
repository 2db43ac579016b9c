/** Why the model could not be asked; the name goes into the metadata of a result. */
export type EndpointErrorType =
  | 'HttpError'
  | 'ConnectionError'
  | 'TimeoutError'
  | 'InvalidReply'
  | 'Overloaded'
  | 'CircuitOpen';

/** A call of the endpoint that failed. */
export class EndpointError extends Error {
  readonly type: EndpointErrorType;
  /** Whether the same call may succeed soon. */
  readonly retryable: boolean;
  /** How long the endpoint asks callers to wait, in milliseconds. */
  readonly retryAfterMs: number;
  /** Whether it says that the endpoint is out of order, so that it counts for the circuit breaker. */
  readonly outOfOrder: boolean;

  constructor(
    type: EndpointErrorType,
    message: string,
    facts: { retryable?: boolean; retryAfterMs?: number; outOfOrder?: boolean } = {},
  ) {
    super(message);
    this.name = type;
    this.type = type;
    this.retryable = facts.retryable ?? false;
    this.retryAfterMs = facts.retryAfterMs ?? 0;
    this.outOfOrder = facts.outOfOrder ?? false;
  }
}

/** The caller no longer waits for the answer. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
}
